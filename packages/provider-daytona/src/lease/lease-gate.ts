import type { Clock } from '@holdfast/core'
import { ConflictError, NotFoundError, ProviderError, sleep } from '@holdfast/core/provider-kit'

/** How long a teardown waits for what runs before it goes on. */
const MAX_DRAIN_MS = 5_000

export type Teardown = 'destroyed' | 'parked' | 'released'

/**
 * Lets work on a sandbox through, one teardown at a time apart from it. Work that comes while a teardown runs waits for
 * it, and is refused once it has happened.
 */
export class LeaseGate {
  readonly #clock: Clock
  readonly #subject: string
  readonly #running = new Set<Promise<unknown>>()
  #teardown: Promise<unknown> | undefined
  #closedBy: Teardown | undefined

  constructor(clock: Clock, subject: string) {
    this.#clock = clock
    this.#subject = subject
  }

  get isOpen(): boolean {
    return this.#closedBy === undefined
  }

  /** Runs `work`, or rejects when the sandbox was torn down, with what became of it. */
  async pass<T>(work: () => Promise<T>): Promise<T> {
    while (this.#teardown !== undefined) await this.#teardown.catch(() => undefined)
    if (this.#closedBy !== undefined) throw inactiveError(this.#subject, this.#closedBy)
    const running = work()
    const settled = running.catch(() => undefined)
    this.#running.add(settled)
    try {
      return await running
    } finally {
      this.#running.delete(settled)
    }
  }

  /** Runs `teardown` alone, after what runs has ended or had its time. A failed one leaves the gate as it was. */
  async close(kind: Teardown, teardown: () => Promise<void>): Promise<void> {
    while (this.#teardown !== undefined) await this.#teardown.catch(() => undefined)
    const closing = this.#drain().then(teardown)
    this.#teardown = closing
    try {
      await closing
      this.#closedBy = kind
    } finally {
      this.#teardown = undefined
    }
  }

  async #drain(): Promise<void> {
    if (this.#running.size === 0) return
    const stop = new AbortController()
    const limit = sleep(this.#clock, MAX_DRAIN_MS, stop.signal).catch(() => undefined)
    await Promise.race([Promise.all(this.#running), limit])
    stop.abort()
  }
}

function inactiveError(sandboxId: string, kind: Teardown): Error {
  const details = { sandboxId }
  const message = `Sandbox ${sandboxId} is no longer active: it was ${kind}.`
  if (kind === 'destroyed') return new NotFoundError('SANDBOX_NOT_FOUND', message, { details })
  if (kind === 'released') return new ConflictError('SANDBOX_CLOSED', message, { details })
  return new ProviderError('SANDBOX_STOPPED', `${message} Resume it.`, { details, retryable: true })
}
