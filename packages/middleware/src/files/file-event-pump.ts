import type { Clock, SandboxHandle } from '@holdfast/core'
import type { SandboxFileEvent } from '@tanstack/ai'
import type { DefinitionLogger } from '../definition/definition-logger.ts'
import type { SandboxFileHooks } from '../definition/sandbox-hooks.ts'
import type { SecretRedactor } from '../secrets/secret-redactor.ts'
import { fileChanges } from './file-change.ts'
import type { FileChange } from './file-change.ts'
import { FileHistory } from './file-history.ts'
import { callFileHooks } from './file-hooks.ts'
import { listTree } from './file-listing.ts'
import type { FileListing } from './file-listing.ts'
import type { GitBaseline } from './git-baseline.ts'
import { unifiedDiff } from './unified-diff.ts'
import type { UnifiedDiff } from './unified-diff.ts'

/** A diff of one file event. */
export type SandboxFileDiff = SandboxFileEvent & UnifiedDiff

export interface FileEventPumpInput {
  handle: SandboxHandle
  root: string
  diff: boolean
  emit: (event: SandboxFileEvent) => void
  emitDiff: (diff: SandboxFileDiff) => void
  hooks?: SandboxFileHooks
  clock: Clock
  logger: DefinitionLogger
  redactor?: SecretRedactor
}

/** Most events that one look tells one by one, and most diffs. A checkout of another branch must not drown a run. */
const MAX_EVENTS_PER_LOOK = 1_000
const MAX_DIFFS_PER_LOOK = 100

/** Compares the workspace with how it was at the last look, and tells the differences. One look at a time. */
export class FileEventPump {
  readonly #input: FileEventPumpInput
  readonly #history: FileHistory
  #known: FileListing
  #looking: Promise<void> = Promise.resolve()

  constructor(input: FileEventPumpInput, known: FileListing, baseline: GitBaseline | null) {
    this.#input = input
    this.#known = known
    this.#history = new FileHistory(input.handle, input.root, baseline)
  }

  /** Resolves when everything up to now has been told. Never rejects: what fails is logged and looked at again later. */
  look(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#look())
    return this.#looking
  }

  async #look(): Promise<void> {
    const { handle, root, logger } = this.#input
    try {
      const current = await listTree(handle, root)
      const changes = fileChanges(this.#known, current)
      this.#known = current
      await this.#tell(changes)
    } catch (error) {
      logger.warn('The files of the sandbox could not be looked at.', error)
    }
  }

  async #tell(changes: readonly FileChange[]): Promise<void> {
    const { clock, logger, emit, diff, hooks = {} } = this.#input
    if (changes.length > MAX_EVENTS_PER_LOOK) {
      logger.warn(`${changes.length} files changed at once; ${MAX_EVENTS_PER_LOOK} of them are told.`)
    }
    const told = changes
      .slice(0, MAX_EVENTS_PER_LOOK)
      .map((change) => ({ change, event: this.#event(change, clock.now()) }))
    for (const { event } of told) emit(event)
    for (const [index, { change, event }] of told.entries()) {
      const computed = once(() => this.#diff(change))
      const accessors = {
        before: async () => (await this.#history.before(change.path)) ?? '',
        after: async () => (await this.#history.after(change)) ?? '',
        diff: async () => (await computed()).diff,
      }
      await callFileHooks(hooks, { ...event, ...accessors }, logger)
      if (diff && index < MAX_DIFFS_PER_LOOK) await this.#tellDiff(event, computed)
    }
  }

  async #tellDiff(event: SandboxFileEvent, computed: () => Promise<UnifiedDiff>): Promise<void> {
    try {
      this.#input.emitDiff({ ...event, ...(await computed()) })
    } catch (error) {
      this.#input.logger.warn(`No diff could be made for ${event.path}.`, error)
    }
  }

  #event({ type, path }: FileChange, timestamp: number): SandboxFileEvent {
    return { type, path: `${this.#input.root}/${this.#redacted(path)}`, timestamp }
  }

  async #diff(change: FileChange): Promise<UnifiedDiff> {
    const before = await this.#history.before(change.path)
    const after = await this.#history.after(change)
    if (after !== undefined) this.#history.remember(change.path, after)
    if (before === undefined || after === undefined) return { diff: '', truncated: true }
    // Redacted before it is compared: a patch breaks lines apart, and so could break a secret.
    return unifiedDiff(this.#redacted(change.path), this.#redacted(before), this.#redacted(after), change.type)
  }

  #redacted(text: string): string {
    return this.#input.redactor?.text(text) ?? text
  }
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  return () => (result ??= work())
}
