import { setTimeout as realDelay } from 'node:timers/promises'
import type { Clock } from '@holdfast/core'
import { topicToken } from './wake-topic.ts'
import type { WakeTopic } from './wake-topic.ts'
import { WakeWatch } from './wake-watch.ts'

/** How wakes reach other processes. */
export interface WakeRemote {
  /** False while notifications cannot arrive, so that the hub polls. */
  readonly isListening: boolean
  /** Called when somebody waits for the first time. `onReady` runs after each (re)connection. */
  start: (onTokens: (tokens: readonly string[]) => void, onReady: () => void) => void
  notify: (tokens: readonly string[]) => Promise<void>
  close: () => Promise<void>
}

/** What a watcher knows already; a sweep asks whether the database knows more. */
export interface WatchedTopic extends WakeTopic {
  readonly known: number
}

export interface WakeHubOptions {
  clock: Clock
  /** Left out where no other process can write. */
  remote?: WakeRemote
  /** One query for all topics: which of them have news. */
  sweep: (topics: readonly WatchedTopic[]) => Promise<readonly WakeTopic[]>
}

/** Catches a notification that got lost with its sender. */
const SAFETY_SWEEP_MS = 15_000
const POLL_MIN_MS = 200
const POLL_MAX_MS = 1_000
const POLL_GROWTH = 1.5
/** The first wake goes at once; what comes within this time after it goes together, and then a longer time is gathered. */
const GATHER_MIN_MS = 1
/** For a writer that never pauses. */
const GATHER_MAX_MS = 8

interface Entry {
  readonly topic: WakeTopic
  readonly known: () => number
  readonly watch: WakeWatch
}

/** Wakes whoever waits in this process: one timer and one connection, however many wait. */
export class WakeHub {
  readonly #options: WakeHubOptions
  readonly #entries = new Map<string, Set<Entry>>()
  #isStarted = false
  #isClosed = false
  #isSweeping = false
  #mustSweepAgain = false
  #pollMs = POLL_MIN_MS
  #cancelSweep: (() => void) | undefined
  #outbox = new Set<string>()
  #sending: Promise<void> | undefined

  constructor(options: WakeHubOptions) {
    this.#options = options
  }

  /** `known` is the position that the watcher has seen. */
  watch(topic: WakeTopic, known: () => number = () => 0): WakeWatch {
    const token = topicToken(topic)
    const entries = this.#entries.get(token) ?? new Set()
    const entry: Entry = { topic, known, watch: new WakeWatch(token, () => this.#forget(token, entry)) }
    this.#entries.set(token, entries.add(entry))
    if (this.#isClosed) entry.watch.wake()
    else this.#startWaiting()
    return entry.watch
  }

  /** Wakes this process at once and the others soon. Never waits, never fails: a sweep finds what got lost. */
  publish(token: string): void {
    this.wake([token])
    if (this.#options.remote === undefined || this.#isClosed) return
    this.#outbox.add(token)
    this.#sending ??= this.#send(this.#options.remote)
  }

  /** Wakes this process alone, for a write whose statement notified the others. */
  wake(tokens: readonly string[]): void {
    for (const token of tokens) for (const { watch } of this.#entries.get(token) ?? []) watch.wake()
  }

  /** Wakes everybody, so that they see that the stores are closed, and sends what is left. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelSweep?.()
    this.wake([...this.#entries.keys()])
    await this.#sending
    await this.#options.remote?.close()
  }

  #forget(token: string, entry: Entry): void {
    const entries = this.#entries.get(token)
    entries?.delete(entry)
    if (entries?.size === 0) this.#entries.delete(token)
    if (this.#entries.size === 0) this.#stopSweeping()
  }

  #startWaiting(): void {
    const { remote } = this.#options
    if (remote === undefined) return
    if (!this.#isStarted) {
      this.#isStarted = true
      remote.start(
        (tokens) => this.wake(tokens),
        () => void this.#sweep(),
      )
    }
    this.#pollMs = POLL_MIN_MS
    this.#scheduleSweep()
  }

  #stopSweeping(): void {
    this.#cancelSweep?.()
    this.#cancelSweep = undefined
  }

  #scheduleSweep(): void {
    if (this.#isClosed || this.#cancelSweep !== undefined || this.#entries.size === 0) return
    const waitMs = this.#options.remote?.isListening === true ? SAFETY_SWEEP_MS : this.#pollMs
    this.#cancelSweep = this.#options.clock.schedule(waitMs, () => void this.#sweep())
  }

  async #sweep(): Promise<void> {
    this.#stopSweeping()
    this.#mustSweepAgain = this.#isSweeping
    if (this.#isSweeping || this.#isClosed || this.#entries.size === 0) return
    this.#isSweeping = true
    const news = await this.#askDatabase()
    this.#isSweeping = false
    if (this.#mustSweepAgain) void this.#sweep()
    this.#pollMs = news.length > 0 ? POLL_MIN_MS : Math.min(POLL_MAX_MS, this.#pollMs * POLL_GROWTH)
    this.wake(news.map(topicToken))
    this.#scheduleSweep()
  }

  /** A database that does not answer has no news: whoever waits goes on waiting, and the next sweep asks again. */
  async #askDatabase(): Promise<readonly WakeTopic[]> {
    const entries = [...this.#entries.values()].flatMap((set) => [...set])
    const topics = entries.map(({ topic, known }) => ({ ...topic, known: known() }))
    const [answer] = await Promise.allSettled([this.#options.sweep(topics)])
    return answer.status === 'fulfilled' ? answer.value : []
  }

  /** One notification at a time; what gathers meanwhile goes with the next. */
  async #send(remote: WakeRemote): Promise<void> {
    for (let gatherMs = GATHER_MIN_MS; this.#outbox.size > 0; gatherMs = Math.min(GATHER_MAX_MS, gatherMs * 2)) {
      const tokens = [...this.#outbox]
      this.#outbox = new Set()
      await Promise.allSettled([remote.notify(tokens), realDelay(gatherMs)])
    }
    this.#sending = undefined
  }
}
