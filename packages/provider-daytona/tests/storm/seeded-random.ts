/** Numbers that look random and repeat for a seed. */
export class SeededRandom {
  #state: number

  constructor(seed: number) {
    this.#state = (seed * 2_654_435_761) >>> 0
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T
  }
}
