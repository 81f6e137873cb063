import { InvalidInputError } from '../errors/error-classes.ts'

/** How much a queue holds before its producer has to wait. */
export interface ChunkQueueOptions {
  /** How many items may wait before `push` answers false. No bound when left out. */
  bound?: number
}

interface Reader<T> {
  resolve: (result: IteratorResult<T, undefined>) => void
  reject: (error: unknown) => void
}

/**
 * Turns pushed items into an async iterable that may be read once. No item is ever dropped while a reader may come: a
 * full queue still takes what is pushed, and tells by `push` and `drained` when to pause. A failure is delivered after
 * the items that came before it.
 */
export class ChunkQueue<T> implements AsyncIterable<T> {
  readonly #bound: number
  #items: T[] = []
  #readers: Reader<T>[] = []
  #onDrained: (() => void)[] = []
  #state: 'open' | 'ended' | 'failed' | 'abandoned' = 'open'
  #error: unknown
  #isTaken = false

  constructor(options: ChunkQueueOptions = {}) {
    this.#bound = options.bound ?? Number.POSITIVE_INFINITY
    if (!(this.#bound > 0)) throw new InvalidInputError('INVALID_ARGUMENT', 'bound must be a positive number.')
  }

  /** Number of items that wait for a reader. */
  get size(): number {
    return this.#items.length
  }

  /** Adds an item. False when the queue is full: the item is kept, and the caller should await `drained`. Ignored after the end. */
  push(item: T): boolean {
    if (this.#state !== 'open') return true
    const reader = this.#readers.shift()
    if (reader === undefined) this.#items.push(item)
    else reader.resolve({ done: false, value: item })
    return this.#items.length < this.#bound
  }

  /** Resolves when there is room again, or nothing more can be pushed. */
  drained(): Promise<void> {
    if (this.#state !== 'open' || this.#items.length < this.#bound) return Promise.resolve()
    return new Promise((resolve) => this.#onDrained.push(resolve))
  }

  /** No more items. Repeatable; the first of `end` and `fail` stands. */
  end(): void {
    if (this.#state !== 'open') return
    this.#state = 'ended'
    for (const reader of this.#readers.splice(0)) reader.resolve({ done: true, value: undefined })
    this.#releaseWriters()
  }

  /** The reader gets what was pushed before, then `error`. Repeatable; the first of `end` and `fail` stands. */
  fail(error: unknown): void {
    if (this.#state !== 'open') return
    const reader = this.#readers.shift()
    this.#state = reader === undefined ? 'failed' : 'ended'
    this.#error = error
    reader?.reject(error)
    for (const other of this.#readers.splice(0)) other.resolve({ done: true, value: undefined })
    this.#releaseWriters()
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    if (this.#isTaken) throw new InvalidInputError('INVALID_ARGUMENT', 'This output may be read only once.')
    this.#isTaken = true
    return { next: () => this.#next(), return: () => this.#abandon() }
  }

  #next(): Promise<IteratorResult<T, undefined>> {
    if (this.#items.length > 0) {
      const value = this.#items.shift() as T
      if (this.#items.length < this.#bound) this.#releaseWriters()
      return Promise.resolve({ done: false, value })
    }
    if (this.#state === 'failed') {
      this.#state = 'ended'
      return Promise.reject(this.#error as Error)
    }
    if (this.#state !== 'open') return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }))
  }

  #abandon(): Promise<IteratorResult<T, undefined>> {
    this.#state = 'abandoned'
    this.#items = []
    for (const reader of this.#readers.splice(0)) reader.resolve({ done: true, value: undefined })
    this.#releaseWriters()
    return Promise.resolve({ done: true, value: undefined })
  }

  #releaseWriters(): void {
    for (const resolve of this.#onDrained.splice(0)) resolve()
  }
}
