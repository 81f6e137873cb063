import { isHoldfastError, summarizeCheckpoint } from '@holdfast/core'
import type { ArtifactRecord, CheckpointReason, CheckpointSummary, SandboxHandle, WriteFence } from '@holdfast/core'
import type { RunOutcome } from '../../runs/run-outcome.ts'
import { publishFile } from '../artifacts/publish-file.ts'
import { withoutSecrets } from '../../secrets/redacted-error.ts'
import { warnOf } from '../../secrets/warn-of.ts'
import { CheckpointWriter } from '../checkpoint-writer.ts'
import { restoreWorkspace } from '../restore/restore-workspace.ts'
import { findHead, saveCheckpoint } from '../save-checkpoint.ts'
import type { CheckpointScope, SavedCheckpoint } from '../save-checkpoint.ts'
import { descendsFrom } from '../sentinel.ts'
import { compareCheckpoints } from '../thread/compare-checkpoints.ts'
import type { CheckpointDiff } from '../thread/compare-checkpoints.ts'
import { findCheckpoint } from '../thread/find-checkpoint.ts'
import { CheckpointWorkspace } from '../workspace/checkpoint-workspace.ts'
import { saveCheckpointFailure, toCheckpointFailure } from './checkpoint-failures.ts'
import { endCheckpointId, newCheckpointId } from './checkpoint-id.ts'
import { registerRunCheckpoints, unregisterRunCheckpoints } from './live-run-checkpoints.ts'
import type { CheckpointTriggers } from './checkpoint-triggers.ts'

/** Names of the events that tell viewers of checkpoints. */
export const CHECKPOINT_SAVED_EVENT = 'sandbox.checkpoint'
/** Name of the event that tells viewers that a checkpoint could not be saved. */
export const CHECKPOINT_FAILED_EVENT = 'sandbox.checkpoint.failed'

export interface RunCheckpointsInput {
  scope: CheckpointScope
  triggers: CheckpointTriggers
  threadId: string
  runId: string
  root: string
  fence?: WriteFence | undefined
  /** Rejects when another host drives the run. */
  assertDriver?: (() => Promise<void>) | undefined
  /** Shows an event; `atEnd` when the run is ending. */
  emit: (name: string, value: Record<string, unknown>, options: { atEnd: boolean }) => void
}

/** Why a save is made in the middle of a run. */
export interface SaveRequest {
  reason: CheckpointReason
  label?: string
  checkpointId?: string
  onlyChanges?: boolean
}

/** The checkpoints of one run: the writer it holds, and what it saves when. */
export class RunCheckpoints {
  readonly input: RunCheckpointsInput
  readonly #writer: CheckpointWriter
  #handle: SandboxHandle | undefined
  #queue: Promise<unknown> = Promise.resolve()
  #cancelTimer: (() => void) | undefined
  #isClosed = false
  #isEnding = false

  private constructor(input: RunCheckpointsInput, writer: CheckpointWriter) {
    this.input = input
    this.#writer = writer
  }

  /** Takes the thread's writer lease: `SANDBOX_SNAPSHOT_WRITER_CONFLICT` while somebody else has it. */
  static async open(input: RunCheckpointsInput): Promise<RunCheckpoints> {
    const { scope, threadId, fence, triggers } = input
    const { stores, clock, redactor } = scope
    const saves = triggers.ends()
    const writer = await withoutSecrets(redactor, () =>
      CheckpointWriter.open({ stores, clock, threadId, fence, saves }),
    )
    return new RunCheckpoints(input, writer)
  }

  /** Brings a sandbox that does not come from the head to it. Tells whether it did. */
  restoreHead(handle: SandboxHandle, isResumed: boolean, signal?: AbortSignal): Promise<boolean> {
    return withoutSecrets(this.input.scope.redactor, () => this.#restoreHead(handle, isResumed, signal))
  }

  async #restoreHead(handle: SandboxHandle, isResumed: boolean, signal: AbortSignal | undefined): Promise<boolean> {
    const { scope, threadId } = this.input
    const workspace = this.#workspace(handle, signal)
    const headId = await scope.stores.checkpoints.getHead(threadId)
    if (headId === null || (isResumed && (await descendsFrom(workspace, headId)))) return false
    const checkpoint = await findHead(scope.stores, threadId)
    if (checkpoint === null) return false
    const { blobs } = scope.stores
    await restoreWorkspace({ workspace, checkpoint, blobs, limits: scope.limits })
    return true
  }

  /** From here on there is something to save. */
  start(handle: SandboxHandle): void {
    this.#handle = handle
    registerRunCheckpoints(this.input.scope.stores.checkpoints, this.input.threadId, this)
    this.#schedule()
  }

  /** Nothing is saved from here on, unless it is under way. */
  stop(): void {
    this.#handle = undefined
    unregisterRunCheckpoints(this.input.scope.stores.checkpoints, this.input.threadId, this)
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  /** Saves when earlier saves are done. */
  save(request: SaveRequest): Promise<SavedCheckpoint> {
    const saving = this.#queue.then(() => withoutSecrets(this.input.scope.redactor, () => this.#save(request)))
    this.#queue = saving.catch(() => undefined)
    return saving
  }

  /** Checkpoints of the run's own thread, newest first. */
  async list(limit: number): Promise<CheckpointSummary[]> {
    const { threadId, scope } = this.input
    const { checkpoints } = scope.stores
    if (checkpoints.listSummaries === undefined) {
      return (await checkpoints.list(threadId)).toReversed().slice(0, limit).map(summarizeCheckpoint)
    }
    return (await checkpoints.listSummaries({ threadId, limit })).checkpoints
  }

  /** Two checkpoints of the run's own thread; the head when the second is left out. */
  async compare(fromId: string, toId?: string): Promise<CheckpointDiff> {
    const { threadId, scope } = this.input
    const from = await findCheckpoint(scope.stores, threadId, fromId)
    return compareCheckpoints(scope.stores.blobs, from, await findCheckpoint(scope.stores, threadId, toId))
  }

  /** Stores a file of the workspace as an artifact of the thread. */
  publish(path: string, options: { name?: string; mimeType?: string } = {}): Promise<ArtifactRecord> {
    const { threadId, runId, scope } = this.input
    if (this.#handle === undefined) throw new TypeError('The sandbox of this run is not ready.')
    return publishFile(scope, this.#workspace(this.#handle), { threadId, runId, path, ...options })
  }

  /**
   * Saves what the end of the run asks for, and lets the writer go. A checkpoint that could not be stored is noted on the
   * run, and viewers are told. Rejects with `DRIVER_LOST` alone: then nothing may be touched any more.
   */
  async end(outcome: RunOutcome, willDestroy: boolean): Promise<void> {
    const reason = this.#reasonFor(outcome, willDestroy)
    this.#cancelTimer?.()
    this.#isEnding = true
    if (reason !== undefined && this.#handle !== undefined) {
      const checkpointId = endCheckpointId(this.input.threadId, this.input.runId, outcome.status)
      const id = outcome.status === 'interrupted' ? {} : { checkpointId }
      try {
        await this.save({ reason, ...id })
      } catch (error) {
        await this.#assertStillDriver(error)
        await this.#noteFailure(error)
      }
    }
    await this.#queue
    await this.close()
  }

  /** Lets the writer go without saving. A lease that cannot be released runs out. */
  async close(): Promise<void> {
    this.stop()
    this.#isClosed = true
    try {
      await this.#writer.close()
    } catch (error) {
      warnOf(error, this.input.scope.redactor)
    }
  }

  #reasonFor(outcome: RunOutcome, willDestroy: boolean): CheckpointReason | undefined {
    const { triggers } = this.input
    if (outcome.status === 'completed' && triggers.has('finish')) return 'automatic'
    if (outcome.status === 'failed' && triggers.has('error')) return 'failed-run'
    if (outcome.status === 'interrupted') return triggers.has('interrupt') ? 'automatic' : undefined
    const isEnd = outcome.status === 'completed' || outcome.status === 'failed'
    return isEnd && willDestroy && triggers.has('before-destroy') ? 'before-destroy' : undefined
  }

  async #save({ reason, label, checkpointId = newCheckpointId(), onlyChanges }: SaveRequest): Promise<SavedCheckpoint> {
    const { scope, runId, assertDriver } = this.input
    const handle = this.#handle
    if (handle === undefined || this.#isClosed) throw new TypeError('The sandbox of this run cannot be saved any more.')
    const saved = await saveCheckpoint({
      scope,
      writer: this.#writer,
      workspace: this.#workspace(handle),
      checkpointId,
      reason,
      label,
      sourceRunId: runId,
      assertDriver,
      onlyChanges: onlyChanges === true,
    })
    const { id, createdAt, sizes, report } = saved.checkpoint
    const counts = { changedFiles: sizes?.changedFiles ?? 0, reported: report?.length ?? 0 }
    if (saved.isNew) this.#emit(CHECKPOINT_SAVED_EVENT, { checkpointId: id, reason, createdAt, ...counts })
    return saved
  }

  /** A save also fails because a successor took the writer. */
  async #assertStillDriver(failure: unknown): Promise<void> {
    const lost = isHoldfastError(failure, 'DRIVER_LOST') ? failure : await this.#driverLoss()
    if (lost === undefined) return
    await this.close()
    throw lost
  }

  async #driverLoss(): Promise<Error | undefined> {
    try {
      await this.input.assertDriver?.()
      return undefined
    } catch (error) {
      return isHoldfastError(error, 'DRIVER_LOST') ? error : undefined
    }
  }

  async #noteFailure(error: unknown): Promise<void> {
    const { scope, runId } = this.input
    const failure = toCheckpointFailure(error, scope.redactor, scope.clock.now())
    this.#emit(CHECKPOINT_FAILED_EVENT, { code: failure.code, message: failure.message })
    try {
      await saveCheckpointFailure(scope.stores.metadata, runId, failure)
    } catch (cause) {
      process.emitWarning(`The checkpoint of run ${runId} failed (${failure.code}), and that could not be noted.`, {
        code: 'HOLDFAST_CHECKPOINT',
        detail: scope.redactor.text(cause instanceof Error ? cause.message : String(cause)),
      })
    }
  }

  #schedule(): void {
    const { triggers, scope } = this.input
    if (triggers.everyMs === undefined || this.#handle === undefined) return
    this.#cancelTimer = scope.clock.schedule(triggers.everyMs, () => void this.#saveOnTime())
  }

  async #saveOnTime(): Promise<void> {
    try {
      await this.save({ reason: 'automatic', onlyChanges: true })
    } catch (error) {
      const { code, message } = toCheckpointFailure(error, this.input.scope.redactor, 0)
      this.#emit(CHECKPOINT_FAILED_EVENT, { code, message })
    }
    this.#schedule()
  }

  #emit(name: string, value: Record<string, unknown>): void {
    this.input.emit(name, value, { atEnd: this.#isEnding })
  }

  #workspace(handle: SandboxHandle, signal?: AbortSignal): CheckpointWorkspace {
    const { root } = this.input
    return new CheckpointWorkspace({ handle, root, signal })
  }
}
