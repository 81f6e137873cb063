import type { Clock, SandboxHandle } from '@holdfast/core'
import type { SandboxFileEvent, SandboxFileHookEvent } from '@tanstack/ai'
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
  /** The accessors of the event read the sandbox when they are called; they are not redacted. */
  emit: (event: SandboxFileHookEvent) => void
  emitDiff: (diff: SandboxFileDiff) => void
  hooks?: SandboxFileHooks
  clock: Clock
  logger: DefinitionLogger
  redactor?: SecretRedactor
}

/** Kept beside the event, so that a diff is made once for hooks and viewers. */
interface ToldEvent {
  readonly event: SandboxFileHookEvent
  readonly unified: () => Promise<UnifiedDiff>
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
    const told = changes.slice(0, MAX_EVENTS_PER_LOOK).map((change) => this.#hookEvent(change, clock.now()))
    for (const { event } of told) emit(event)
    for (const [index, { event, unified }] of told.entries()) {
      await callFileHooks(hooks, event, logger)
      if (diff && index < MAX_DIFFS_PER_LOOK) await this.#tellDiff(event, unified)
    }
  }

  async #tellDiff({ type, path, timestamp }: SandboxFileEvent, unified: ToldEvent['unified']): Promise<void> {
    try {
      this.#input.emitDiff({ type, path, timestamp, ...(await unified()) })
    } catch (error) {
      this.#input.logger.warn(`No diff could be made for ${path}.`, error)
    }
  }

  #hookEvent(change: FileChange, timestamp: number): ToldEvent {
    const unified = once(() => this.#diff(change))
    const event = {
      type: change.type,
      path: `${this.#input.root}/${this.#redacted(change.path)}`,
      timestamp,
      before: async () => (await this.#history.before(change.path)) ?? '',
      after: async () => (await this.#history.after(change)) ?? '',
      diff: async () => (await unified()).diff,
    }
    return { event, unified }
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
