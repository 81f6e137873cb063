import { RefusedError } from '@holdfast/core'
import type { Clock, HoldfastStores } from '@holdfast/core'
import { addQueuedThread, removeQueuedThread } from './queue-index.ts'
import { forgetQueuedSend, saveQueuedSend } from './queued-send.ts'
import type { QueuedSend } from './queued-send.ts'

export interface QueueEntry {
  runId: string
  /** When the host that waits for it last said so; 0 when it let go. Epoch milliseconds. */
  seenAt: number
}

const NAMESPACE = 'holdfast-queue'

/** Most sends that wait for one thread. */
const MAX_LENGTH = 100

/** The sends that wait for a thread, in order. Every change is made under the queue's lock. */
export class ThreadQueue {
  readonly threadId: string
  readonly #stores: HoldfastStores
  readonly #clock: Clock

  constructor(stores: HoldfastStores, threadId: string, clock: Clock) {
    this.threadId = threadId
    this.#stores = stores
    this.#clock = clock
  }

  async entries(): Promise<QueueEntry[]> {
    return ((await this.#stores.metadata.get(NAMESPACE, this.threadId)) as QueueEntry[] | null) ?? []
  }

  /** Takes the last place, or keeps the one it has. `LIMIT_EXCEEDED` when too many wait. */
  async enter(send: QueuedSend): Promise<void> {
    const { runId } = send.chat
    await this.#change(async (entries) => {
      if (entries.some((entry) => entry.runId === runId)) return this.#seen(entries, [runId])
      if (entries.length >= MAX_LENGTH) throw fullError(this.threadId)
      await saveQueuedSend(this.#stores, send)
      return [...entries, { runId, seenAt: this.#clock.now() }]
    })
  }

  /** Says that this host still waits for them. */
  async touch(runIds: readonly string[]): Promise<void> {
    await this.#change(async (entries) => this.#seen(entries, runIds))
  }

  /** This host waits for them no longer; another one may start them at once. */
  async letGo(runIds: readonly string[]): Promise<void> {
    await this.#change(async (entries) =>
      entries.map((entry) => (runIds.includes(entry.runId) ? { ...entry, seenAt: 0 } : entry)),
    )
  }

  /** Gives up the place. False when it had none. */
  async leave(runId: string): Promise<boolean> {
    let wasThere = false
    await this.#change(async (entries) => {
      wasThere = entries.some((entry) => entry.runId === runId)
      return entries.filter((entry) => entry.runId !== runId)
    })
    await forgetQueuedSend(this.#stores, runId)
    return wasThere
  }

  #seen(entries: QueueEntry[], runIds: readonly string[]): QueueEntry[] {
    const seenAt = this.#clock.now()
    return entries.map((entry) => (runIds.includes(entry.runId) ? { ...entry, seenAt } : entry))
  }

  async #change(to: (entries: QueueEntry[]) => Promise<QueueEntry[]>): Promise<void> {
    const { locks, metadata } = this.#stores
    await locks.withLock(`queue:${this.threadId}`, async () => {
      const before = await this.entries()
      const after = await to(before)
      if (before.length === 0 && after.length === 0) return
      if (before.length === 0) await addQueuedThread(this.#stores, this.threadId)
      if (after.length > 0) await metadata.set(NAMESPACE, this.threadId, after)
      else {
        await metadata.delete(NAMESPACE, this.threadId)
        await removeQueuedThread(this.#stores, this.threadId)
      }
    })
  }
}

function fullError(threadId: string): RefusedError {
  return new RefusedError('LIMIT_EXCEEDED', `${MAX_LENGTH} messages wait for thread ${threadId} already; try later.`, {
    details: { threadId, limit: MAX_LENGTH },
    retryable: true,
  })
}
