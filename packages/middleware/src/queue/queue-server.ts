import { CancelledError, isHoldfastError, RunConflictError } from '@holdfast/core'
import type { Clock, HoldfastStores } from '@holdfast/core'
import type { Run } from '../runs/run.ts'
import type { RunDriver } from '../runs/run-driver.ts'
import { findSession } from '../runs/session-registry.ts'
import { startRun } from '../runs/start-run.ts'
import type { StartRunInput } from '../runs/start-run.ts'
import { endQueued } from './end-queued.ts'
import { startAbandoned } from './start-abandoned.ts'
import { ThreadQueue } from './thread-queue.ts'
import type { QueueEntry } from './thread-queue.ts'

/** How often a queue is looked at while nothing here says that its thread became free. */
const POLL_MS = 1_000
/** How often a host says that it still waits. */
const TOUCH_MS = 10_000
/** After this silence the host that waited for a send is taken for dead. */
const STALE_MS = 30_000

interface Waiter {
  input: StartRunInput
  resolve: (run: Run) => void
  reject: (error: unknown) => void
}

type Next = 'again' | 'wait' | 'done'

/** Starts the sends of one thread's queue from this process, one after the other. Has a timer only while some wait. */
export class QueueServer {
  readonly queue: ThreadQueue
  readonly #stores: HoldfastStores
  readonly #clock: Clock
  readonly #waiters = new Map<string, Waiter>()
  readonly #onIdle: () => void
  #driver: RunDriver | undefined
  #isServing = false
  #isStopped = false
  #isWoken = false
  #wake: () => void = () => undefined

  constructor(stores: HoldfastStores, threadId: string, clock: Clock, onIdle: () => void) {
    this.#onIdle = onIdle
    this.queue = new ThreadQueue(stores, threadId, clock)
    this.#stores = stores
    this.#clock = clock
  }

  /** Resolves when it is the turn of a send that is in the queue. */
  wait(input: StartRunInput): Promise<Run> {
    if (this.#isStopped) return Promise.reject(stoppedError())
    return new Promise((resolve, reject) => {
      this.#waiters.get(input.chat.runId)?.reject(sentAgainError(input.chat.runId))
      this.#waiters.set(input.chat.runId, { input, resolve, reject })
      this.serve(input.driver)
    })
  }

  /** With a driver also what no living host waits for. Returns at once. */
  serve(driver: RunDriver | undefined): void {
    this.#driver ??= driver
    this.wake()
    if (this.#isServing || this.#isStopped) return
    this.#isServing = true
    void this.#loop()
  }

  wake(): void {
    this.#isWoken = true
    this.#wake()
  }

  /** Leaves what waits to other hosts. */
  async stop(): Promise<void> {
    this.#isStopped = true
    const runIds = [...this.#waiters.keys()]
    this.#rejectAll(stoppedError())
    this.wake()
    if (runIds.length > 0) await this.queue.letGo(runIds)
  }

  async #loop(): Promise<void> {
    for (;;) {
      const next = await this.#step().catch((error: unknown): Next => this.#failed(error))
      if (this.#isStopped || next === 'done') break
      if (next === 'wait') await this.#pause()
    }
    this.#isServing = false
    if (this.#waiters.size > 0) this.serve(undefined)
    else this.#onIdle()
  }

  /** A store that does not answer is asked again; one that is closed is not. */
  #failed(error: unknown): Next {
    if (isHoldfastError(error) && error.code !== 'STORE_CLOSED') return 'wait'
    this.#rejectAll(error)
    return 'done'
  }

  async #step(): Promise<Next> {
    const known = [...this.#waiters.keys()]
    const entries = await this.queue.entries()
    for (const runId of known) if (!entries.some((entry) => entry.runId === runId)) await this.#gone(runId)
    const [head] = entries
    if (head === undefined) return this.#waiters.size === 0 ? 'done' : 'again'
    await this.#touch(entries)
    if (!this.#waiters.has(head.runId) && this.#isStale(head) && this.#driver !== undefined) {
      return this.#attempt(head.runId, () => this.#startAbandoned(head.runId))
    }
    const turn = entries.find((entry) => this.#waiters.has(entry.runId) || !this.#isStale(entry))
    const waiter = turn === undefined ? undefined : this.#waiters.get(turn.runId)
    if (turn !== undefined && waiter !== undefined) return this.#attempt(turn.runId, () => this.#start(waiter))
    return this.#waiters.size === 0 && this.#driver === undefined ? 'done' : 'wait'
  }

  #isStale({ seenAt }: QueueEntry): boolean {
    return this.#clock.now() - seenAt >= STALE_MS
  }

  async #touch(entries: readonly QueueEntry[]): Promise<void> {
    const isDue = ({ seenAt }: QueueEntry): boolean => this.#clock.now() - seenAt >= TOUCH_MS
    const ours = entries.filter((entry) => this.#waiters.has(entry.runId))
    if (ours.some(isDue)) await this.queue.touch(ours.map(({ runId }) => runId))
  }

  async #attempt(runId: string, start: () => Promise<void>): Promise<Next> {
    try {
      await start()
      return 'again'
    } catch (error) {
      if (isHoldfastError(error, 'THREAD_BUSY')) {
        this.#wakeAfter(String(error.details['activeRunId']))
        return 'wait'
      }
      if (isHoldfastError(error) && error.retryable) return 'wait'
      await this.queue.leave(runId)
      const waiter = this.#take(runId)
      const ids = { runId, threadId: this.queue.threadId }
      if (waiter === undefined) await endQueued({ stores: this.#stores, clock: this.#clock }, ids, error)
      else waiter.reject(error)
      return 'again'
    }
  }

  async #start(waiter: Waiter): Promise<void> {
    const { runId } = waiter.input.chat
    const driver = this.#driver === undefined ? {} : { driver: this.#driver }
    const run = await startRun({ ...waiter.input, whenBusy: 'reject', ...driver })
    this.#take(runId)
    waiter.resolve(run)
    this.#wakeAfter(runId)
    await this.queue.leave(runId)
  }

  async #startAbandoned(runId: string): Promise<void> {
    const driver = this.#driver
    if (driver === undefined) return
    await startAbandoned({ stores: this.#stores, clock: this.#clock, driver, runId })
    this.#wakeAfter(runId)
    await this.queue.leave(runId)
  }

  /** Its place is gone: another host started it, or somebody cancelled it. */
  async #gone(runId: string): Promise<void> {
    const record = await this.#stores.runs.get(runId)
    const waiter = this.#take(runId)
    if (record === null || record.status === 'aborted') {
      waiter?.reject(new RunConflictError('RUN_CANCELLED', `Run ${runId} was cancelled while it waited.`))
    } else waiter?.reject(startedElsewhereError(runId))
  }

  #take(runId: string): Waiter | undefined {
    const waiter = this.#waiters.get(runId)
    this.#waiters.delete(runId)
    return waiter
  }

  #rejectAll(error: unknown): void {
    for (const runId of this.#waiters.keys()) this.#take(runId)?.reject(error)
  }

  /** A run of this process says when it has ended; of any other the next look will tell. */
  #wakeAfter(runId: string): void {
    void findSession(this.#stores, runId)?.ended.then(() => this.wake())
  }

  async #pause(): Promise<void> {
    if (!this.#isWoken) {
      await new Promise<void>((resolve) => {
        const cancelTimer = this.#clock.schedule(POLL_MS, resolve)
        this.#wake = () => {
          cancelTimer()
          resolve()
        }
      })
    }
    this.#isWoken = false
  }
}

function stoppedError(): CancelledError {
  return new CancelledError('CANCELLED', 'This host shuts down; the message stays in the queue.')
}

function sentAgainError(runId: string): RunConflictError {
  return new RunConflictError('DRIVER_HELD', `Run ${runId} was sent again; the later one waits.`, {
    details: { runId },
  })
}

function startedElsewhereError(runId: string): RunConflictError {
  return new RunConflictError('DRIVER_HELD', `Run ${runId} was started by another host; attach to it.`, {
    details: { runId },
  })
}
