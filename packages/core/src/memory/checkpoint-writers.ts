import { randomUUID } from 'node:crypto'
import type { CheckpointWriterLease } from '../content/checkpoint-store.ts'
import { checkpointWriterTimes } from '../content/checkpoint-writer-times.ts'
import type { CheckpointWriterOptions } from '../content/checkpoint-writer-times.ts'
import { ConflictError, LeaseLostError } from '../errors/error-classes.ts'
import type { WriterRow } from './checkpoint-table.ts'
import type { MemoryState } from './memory-state.ts'

type LeaseToken = Pick<CheckpointWriterLease, 'threadId' | 'ownerToken' | 'fence'>

/** Hands out and checks the writer leases of threads. A lease is live while its end lies in the future. */
export class CheckpointWriters {
  readonly #state: MemoryState
  readonly #leaseMs: number
  readonly #renewAfterMs: number

  constructor(state: MemoryState, options: CheckpointWriterOptions) {
    this.#state = state
    const { leaseDurationMs, renewAfterMs } = checkpointWriterTimes(options)
    this.#leaseMs = leaseDurationMs
    this.#renewAfterMs = renewAfterMs
  }

  acquire(threadId: string, isForced = false): CheckpointWriterLease {
    const current = this.#state.checkpoints.findWriter(threadId)
    if (!isForced && current !== undefined && this.#isLive(current)) {
      const message = `Another writer holds the checkpoints of thread ${threadId}.`
      const details = { threadId, expiresAt: current.expiresAt }
      throw new ConflictError('SANDBOX_SNAPSHOT_WRITER_CONFLICT', message, { details, retryable: true })
    }
    const row = this.#state.checkpoints.saveWriter(threadId, randomUUID(), this.#end())
    return this.#lease(threadId, row)
  }

  /** Throws `SANDBOX_SNAPSHOT_WRITER_LOST` unless `writer` is the live lease of the thread. */
  assertHeld(writer: LeaseToken, threadId: string): void {
    const row = this.#find(writer)
    if (writer.threadId === threadId && row !== undefined && this.#isLive(row)) return
    const message = `The checkpoint writer lease of thread ${threadId} expired or passed to another writer.`
    throw new LeaseLostError('SANDBOX_SNAPSHOT_WRITER_LOST', message, { details: { threadId } })
  }

  #lease(threadId: string, row: WriterRow): CheckpointWriterLease {
    const token = { threadId, ownerToken: row.ownerToken, fence: row.fence }
    return {
      ...token,
      expiresAt: row.expiresAt,
      renewAfterMs: this.#renewAfterMs,
      renew: async () => {
        this.#state.assertOpen()
        this.assertHeld(token, threadId)
        row.expiresAt = this.#end()
        return { expiresAt: row.expiresAt }
      },
      release: async () => {
        this.#state.assertOpen()
        if (this.#find(token) !== undefined) this.#state.checkpoints.deleteWriter(threadId)
      },
    }
  }

  #find(token: LeaseToken): WriterRow | undefined {
    const row = this.#state.checkpoints.findWriter(token.threadId)
    return row?.ownerToken === token.ownerToken && row.fence === token.fence ? row : undefined
  }

  #isLive(row: WriterRow): boolean {
    return row.expiresAt > this.#state.clock.now()
  }

  #end(): number {
    return this.#state.clock.now() + this.#leaseMs
  }
}
