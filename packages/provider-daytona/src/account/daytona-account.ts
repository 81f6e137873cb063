import type { Clock } from '@holdfast/core'
import { HoldfastError, isHoldfastError, runWithDeadline, sleep } from '@holdfast/core/provider-kit'
import { isTransient, mapDaytonaError } from '../errors.ts'
import { accountFingerprint } from '../naming.ts'
import { closeVendorClient, openVendorClient } from '../sdk.ts'
import type { VendorClient } from '../sdk.ts'
import type { NormalizedDaytonaOptions } from '../options/daytona-options.ts'
import { inSpan } from './operation-span.ts'

/** The longest wait that the service may ask for before we give up instead. */
const MAX_RETRY_AFTER_MS = 60_000
const ALIVE_MS = 60_000
const FIRST_BACKOFF_MS = 250
/** Stands for "no bound": the same day that is the most a caller may ask for. */
const UNBOUNDED_MS = 86_400_000

export interface RequestOptions {
  /** Words for errors and spans: `sandbox read`. */
  operation: string
  /** Whether sending it twice does no harm. Only such a request is sent again after a failure of unknown effect. */
  isRepeatable: boolean
  /** Default: the liveness bound. */
  timeoutMs?: number | undefined
  signal?: AbortSignal | undefined
  /** How often a repeatable request is sent at most. Default 4. */
  attempts?: number | undefined
}

/** One account of the service: the client, opened on first use, and the rules for every request that goes through it. */
export class DaytonaAccount {
  readonly options: NormalizedDaytonaOptions
  readonly fingerprint: string
  #client: Promise<VendorClient> | undefined
  #isClosed = false

  constructor(options: NormalizedDaytonaOptions) {
    this.options = options
    this.fingerprint = accountFingerprint(options)
  }

  get clock(): Clock {
    return this.options.clock
  }

  get livenessMs(): number {
    return this.options.livenessTimeoutMs > 0 ? this.options.livenessTimeoutMs : UNBOUNDED_MS
  }

  /**
   * Sends a request under a deadline of our own. 429 waits as long as the service says; failures that may pass are sent
   * again with growing pauses when that does no harm. Rejects with a Holdfast error.
   */
  async request<T>(options: RequestOptions, send: (client: VendorClient) => Promise<T>): Promise<T> {
    return inSpan(this.options.tracer, options.operation, async () => {
      const attempts = options.attempts ?? 4
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await this.#send(options, send)
        } catch (error) {
          const pauseMs = this.#pauseBeforeRepeat(error, options, attempt, attempts)
          if (pauseMs === undefined) throw error
          await this.pause(pauseMs, options.signal)
        }
      }
    })
  }

  /** Waits while somebody waits for the result, so the process must not end meanwhile: the clock alone would let it. */
  async pause(ms: number, signal?: AbortSignal): Promise<void> {
    const alive = setInterval(() => undefined, ALIVE_MS)
    try {
      await sleep(this.clock, ms, signal)
    } finally {
      clearInterval(alive)
    }
  }

  async #send<T>(options: RequestOptions, send: (client: VendorClient) => Promise<T>): Promise<T> {
    options.signal?.throwIfAborted()
    try {
      const client = await this.#open()
      return await runWithDeadline(
        {
          operation: options.operation,
          timeoutMs: options.timeoutMs ?? this.livenessMs,
          signal: options.signal,
          clock: this.clock,
        },
        () => send(client),
      )
    } catch (error) {
      if (options.signal?.aborted === true) throw options.signal.reason
      throw mapDaytonaError(error, options.operation)
    }
  }

  #pauseBeforeRepeat(error: unknown, options: RequestOptions, attempt: number, attempts: number): number | undefined {
    if (options.signal?.aborted === true || attempt >= attempts || !isTransient(error)) return undefined
    const backoff = FIRST_BACKOFF_MS * 2 ** (attempt - 1)
    if (isHoldfastError(error, 'PROVIDER_RATE_LIMITED')) {
      const asked = error.details['retryAfterMs']
      const pauseMs = typeof asked === 'number' ? asked : backoff
      return pauseMs > MAX_RETRY_AFTER_MS ? undefined : pauseMs
    }
    // A conflict is for the caller: it has to read the state again before it decides.
    const isConflict = isHoldfastError(error) && error.details['statusCode'] === 409
    return options.isRepeatable && !isConflict ? backoff : undefined
  }

  #open(): Promise<VendorClient> {
    if (this.#isClosed) {
      throw new HoldfastError('SANDBOX_CLOSED', 'This Daytona provider was closed; make a new one.')
    }
    this.#client ??= this.#openOnce()
    return this.#client
  }

  async #openOnce(): Promise<VendorClient> {
    try {
      const { apiKey, apiUrl, target } = this.options
      return await openVendorClient({ apiKey, apiUrl, target, requestTimeoutMs: this.livenessMs })
    } catch (error) {
      this.#client = undefined
      throw error
    }
  }

  /** Lets go of the client. Repeatable; later requests reject with `SANDBOX_CLOSED`. */
  async close(): Promise<void> {
    this.#isClosed = true
    const opened = this.#client
    this.#client = undefined
    if (opened === undefined) return
    const client = await opened.catch(() => undefined)
    if (client !== undefined) await closeVendorClient(client)
  }
}
