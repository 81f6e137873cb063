import { randomUUID } from 'node:crypto'
import type { Sql } from 'postgres'
import type { WakeRemote } from './wake-hub.ts'
import { decodeWakes, encodeWakes } from './wake-topic.ts'

export interface ListenHooks {
  onnotify: (channel: string, payload: string) => void
  onclose: () => void
}

export interface PostgresWakesOptions {
  channel: string
  /** A client of one connection for LISTEN alone, or undefined where a pooler stands in between. */
  connect: (hooks: ListenHooks) => Promise<Sql | undefined>
  notify: (channel: string, payload: string) => Promise<void>
}

/** Below PostgreSQL's limit of 8,000 bytes a notification. */
const MAX_TOKENS = 400
const RECONNECT_MIN_MS = 100
const RECONNECT_MAX_MS = 5_000

/** One LISTEN connection for a whole process. It reconnects by itself; until then `isListening` is false. */
export class PostgresWakes implements WakeRemote {
  readonly #options: PostgresWakesOptions
  readonly #sender = randomUUID().slice(0, 8)
  #client: Sql | undefined
  #isListening = false
  #isClosed = false
  #reconnectMs = RECONNECT_MIN_MS
  #reconnect: NodeJS.Timeout | undefined
  #listening: Promise<void> | undefined
  #onTokens: (tokens: readonly string[]) => void = () => {}
  #onReady: () => void = () => {}

  constructor(options: PostgresWakesOptions) {
    this.#options = options
  }

  get isListening(): boolean {
    return this.#isListening
  }

  start(onTokens: (tokens: readonly string[]) => void, onReady: () => void): void {
    this.#onTokens = onTokens
    this.#onReady = onReady
    this.#listening = this.#listen()
  }

  async notify(tokens: readonly string[]): Promise<void> {
    for (let from = 0; from < tokens.length; from += MAX_TOKENS) {
      const payload = encodeWakes(tokens.slice(from, from + MAX_TOKENS), this.#sender)
      await this.#options.notify(this.#options.channel, payload)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#reconnect)
    await this.#client?.end({ timeout: 0 })
    await this.#listening
  }

  async #listen(): Promise<void> {
    const [opened] = await Promise.allSettled([this.#openChannel()])
    if (this.#isClosed) return
    if (opened.status === 'rejected') return this.#scheduleReconnect()
    if (!opened.value) return
    this.#isListening = true
    this.#reconnectMs = RECONNECT_MIN_MS
    this.#onReady()
  }

  /** False where LISTEN cannot work, so that nobody tries again. */
  async #openChannel(): Promise<boolean> {
    this.#client ??= await this.#options.connect({
      onnotify: (_channel, payload) => this.#receive(payload),
      onclose: () => this.#lost(),
    })
    if (this.#client === undefined) return false
    if (this.#isClosed) await this.#client.end({ timeout: 0 })
    else await this.#client.unsafe(`listen ${this.#options.channel}`)
    return true
  }

  #receive(payload: string): void {
    const { sender, tokens } = decodeWakes(payload)
    if (sender !== this.#sender) this.#onTokens(tokens)
  }

  #lost(): void {
    if (!this.#isListening) return
    this.#isListening = false
    this.#onReady()
    this.#scheduleReconnect()
  }

  #scheduleReconnect(): void {
    if (this.#isClosed) return
    clearTimeout(this.#reconnect)
    this.#reconnect = setTimeout(() => {
      this.#listening = this.#listen()
    }, this.#reconnectMs)
    this.#reconnect.unref()
    this.#reconnectMs = Math.min(RECONNECT_MAX_MS, this.#reconnectMs * 2)
  }
}
