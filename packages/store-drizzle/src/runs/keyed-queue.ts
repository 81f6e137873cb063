/** Runs what has one key in order, one at a time; other keys do not wait. Remembers nothing of a key that is idle. */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<unknown>>()

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key)
    const mine = before === undefined ? work() : before.then(work, work)
    this.#tails.set(key, mine)
    try {
      return await mine
    } finally {
      if (this.#tails.get(key) === mine) this.#tails.delete(key)
    }
  }
}
