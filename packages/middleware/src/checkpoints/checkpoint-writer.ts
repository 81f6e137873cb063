import { isHoldfastError } from '@holdfast/core'
import type {
  CheckpointWriterLease,
  Clock,
  MetadataStore,
  RunStatus,
  SandboxCheckpointStore,
  WriteFence,
} from '@holdfast/core'

const NAMESPACE = 'holdfast.checkpoint-writer'
/** After a failed renewal; two more fit into what a lease has left. */
const RETRIES_PER_LEASE = 3

/** Who has, or had when its host died, the right to change a thread's checkpoints. */
export interface WriterNote extends WriteFence {
  /** Ends of the run that it was to save. */
  readonly saves: readonly RunStatus[]
}

/** Null when nobody has it, or who had it let it go in order. */
export async function findWriterNote(metadata: MetadataStore, threadId: string): Promise<WriterNote | null> {
  return (await metadata.get(NAMESPACE, threadId)) as WriterNote | null
}

export interface OpenWriterInput {
  stores: { checkpoints: SandboxCheckpointStore; metadata: MetadataStore }
  threadId: string
  clock: Clock
  /** Of the run that holds the thread. */
  fence?: WriteFence | undefined
  /** Ends of the run that it is going to save. */
  saves?: readonly RunStatus[]
}

/**
 * The right to change a thread's checkpoints, renewed by a timer while it is open. Once it was lost it stays lost: nothing
 * is published any more.
 */
export class CheckpointWriter {
  readonly lease: CheckpointWriterLease
  readonly #input: OpenWriterInput
  #lost: unknown
  #cancelTimer: (() => void) | undefined
  #isClosed = false

  private constructor(lease: CheckpointWriterLease, input: OpenWriterInput) {
    this.lease = lease
    this.#input = input
    this.#renewAfter(lease.renewAfterMs)
  }

  /**
   * `SANDBOX_SNAPSHOT_WRITER_CONFLICT` while another writer has it; except that a run which holds the thread takes it from
   * the run that held the thread before, because that one may not write any more.
   */
  static async open(input: OpenWriterInput): Promise<CheckpointWriter> {
    const { stores, threadId, fence, saves = [] } = input
    if (fence === undefined) return new CheckpointWriter(await stores.checkpoints.acquireWriter(threadId), input)
    // Noted before it is taken, so that a successor knows whose it was, whenever this process dies.
    const before = await findWriterNote(stores.metadata, threadId)
    await stores.metadata.set(NAMESPACE, threadId, { ...fence, saves } satisfies WriterNote)
    try {
      return new CheckpointWriter(await stores.checkpoints.acquireWriter(threadId), input)
    } catch (error) {
      if (!isHoldfastError(error, 'SANDBOX_SNAPSHOT_WRITER_CONFLICT')) throw error
      if (isEarlierRun(before, fence)) {
        return new CheckpointWriter(await stores.checkpoints.acquireWriter(threadId, { force: true }), input)
      }
      await stores.metadata.delete(NAMESPACE, threadId)
      throw error
    }
  }

  /** Throws what a renewal failed with for good. */
  assertHeld(): void {
    if (this.#lost !== undefined) throw this.#lost as Error
  }

  /** Lets go. Repeatable, harmless after a loss. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cancelTimer?.()
    const { stores, threadId, fence } = this.#input
    await this.lease.release()
    if (fence !== undefined && this.#lost === undefined) await stores.metadata.delete(NAMESPACE, threadId)
  }

  #renewAfter(ms: number): void {
    if (!this.#isClosed) this.#cancelTimer = this.#input.clock.schedule(ms, () => void this.#renew())
  }

  async #renew(): Promise<void> {
    try {
      await this.lease.renew()
      this.#renewAfter(this.lease.renewAfterMs)
    } catch (error) {
      // Another failure may pass; the store refuses a writer whose lease has run out meanwhile.
      if (isHoldfastError(error, 'SANDBOX_SNAPSHOT_WRITER_LOST')) this.#lost = error
      else this.#renewAfter(this.lease.renewAfterMs / RETRIES_PER_LEASE)
    }
  }
}

/** Whether the note is another run's than ours, or our run's under an earlier driver. */
function isEarlierRun(note: WriterNote | null, fence: WriteFence): boolean {
  return note !== null && (note.runId !== fence.runId || note.epoch !== fence.epoch)
}
