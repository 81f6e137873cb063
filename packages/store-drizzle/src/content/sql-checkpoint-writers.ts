import { randomUUID } from 'node:crypto'
import { checkpointWriterTimes, ConflictError, LeaseLostError } from '@holdfast/core'
import type { CheckpointWriterLease, CheckpointWriterOptions } from '@holdfast/core'
import type { Database } from '../database/database.ts'
import { number } from '../database/row.ts'
import { acquireWriter, checkWriter, releaseWriter, renewWriter } from '../statements/checkpoint-writers.ts'

export type WriterToken = Pick<CheckpointWriterLease, 'threadId' | 'ownerToken' | 'fence'>

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Hands out and checks the writer leases of threads, by the database's clock. */
export class SqlCheckpointWriters {
  readonly #db: Database
  readonly #leaseMs: number
  readonly #renewAfterMs: number

  constructor(db: Database, options: CheckpointWriterOptions) {
    this.#db = db
    const { leaseDurationMs, renewAfterMs } = checkpointWriterTimes(options)
    this.#leaseMs = leaseDurationMs
    this.#renewAfterMs = renewAfterMs
  }

  async acquire(threadId: string, isForced: boolean): Promise<CheckpointWriterLease> {
    const ownerToken = randomUUID()
    const row = await this.#db.row(acquireWriter, [threadId, ownerToken, this.#leaseMs, isForced])
    if (row === undefined) {
      const message = `Another writer holds the checkpoints of thread ${threadId}; try again when it is done.`
      throw new ConflictError('SANDBOX_SNAPSHOT_WRITER_CONFLICT', message, { details: { threadId }, retryable: true })
    }
    const token = { threadId, ownerToken, fence: number(row, 'writer_fence') }
    return this.#lease(token, number(row, 'writer_expires_at'))
  }

  /** `SANDBOX_SNAPSHOT_WRITER_LOST` unless it is the live lease of the thread. */
  async assertHeld(writer: WriterToken, threadId: string): Promise<void> {
    const params = writerParams(writer)
    const row =
      params === undefined || writer.threadId !== threadId ? undefined : await this.#db.row(checkWriter, params)
    if (row === undefined) throw writerLost(threadId)
  }

  #lease(token: WriterToken, expiresAt: number): CheckpointWriterLease {
    const params = [token.threadId, token.ownerToken, token.fence]
    return {
      ...token,
      expiresAt,
      renewAfterMs: this.#renewAfterMs,
      renew: async () => {
        const row = await this.#db.row(renewWriter, [...params, this.#leaseMs])
        if (row === undefined) throw writerLost(token.threadId)
        return { expiresAt: number(row, 'writer_expires_at') }
      },
      release: async () => {
        await this.#db.rows(releaseWriter, params)
      },
    }
  }
}

/** What a statement compares; undefined when no lease of this store can look like it. */
export function writerParams({ threadId, ownerToken, fence }: WriterToken): [string, string, number] | undefined {
  const isOurs = UUID.test(ownerToken) && Number.isSafeInteger(fence)
  return isOurs ? [threadId, ownerToken, fence] : undefined
}

export function writerLost(threadId: string): LeaseLostError {
  const message = `The checkpoint writer lease of thread ${threadId} expired or passed to another writer.`
  return new LeaseLostError('SANDBOX_SNAPSHOT_WRITER_LOST', message, { details: { threadId } })
}
