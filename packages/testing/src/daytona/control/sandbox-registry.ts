import { apiError } from '../http/wire-error.ts'
import type { SandboxRecord } from './sandbox-record.ts'

const DESTROYED = 'destroyed'

/** Every sandbox of every organization. */
export class SandboxRegistry {
  readonly #byId = new Map<string, SandboxRecord>()

  add(record: SandboxRecord): void {
    this.#byId.set(record.id, record)
  }

  /** Everything that is held, sandboxes on their way out included, destroyed ones not. */
  list(organizationId?: string): SandboxRecord[] {
    return [...this.#byId.values()].filter(
      (record) =>
        record.state !== DESTROYED && (organizationId === undefined || record.organizationId === organizationId),
    )
  }

  /** By id or by name, within the organization. 404 for a foreign sandbox as for none. */
  open(idOrName: string, organizationId: string): SandboxRecord {
    const record = this.#byId.get(idOrName) ?? this.findByName(idOrName, organizationId)
    if (!record || record.organizationId !== organizationId || isGone(record))
      throw apiError(404, `Sandbox with ID or name ${idOrName} not found`)
    return record
  }

  findById(sandboxId: string): SandboxRecord | undefined {
    const record = this.#byId.get(sandboxId)
    return record && !isGone(record) ? record : undefined
  }

  findByName(name: string, organizationId: string): SandboxRecord | undefined {
    return this.list(organizationId).find((record) => record.name === name)
  }

  childrenOf(sandboxId: string): SandboxRecord[] {
    return this.list().filter((record) => record.parentId === sandboxId && record.desiredState !== DESTROYED)
  }
}

/** An errored sandbox that is marked for deletion reads as missing [A190]. */
function isGone(record: SandboxRecord): boolean {
  if (record.state === DESTROYED) return true
  return record.desiredState === DESTROYED && ['error', 'build_failed'].includes(record.state)
}
