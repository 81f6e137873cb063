const MARK_BYTE = 0x1e

/** Holds back output until a mark has passed, which may be cut anywhere. Without a mark everything passes. */
export class OutputAfterMark {
  readonly #mark: Buffer | undefined
  #held: Buffer = Buffer.alloc(0)
  #isOpen: boolean
  #onOpen: () => void = () => undefined
  /** Resolves when the mark has passed. */
  readonly passed: Promise<void>

  constructor(mark: string | undefined) {
    this.passed = new Promise((resolve) => {
      this.#onOpen = resolve
    })
    this.#mark =
      mark === undefined ? undefined : Buffer.concat([Buffer.of(MARK_BYTE), Buffer.from(mark), Buffer.of(MARK_BYTE)])
    this.#isOpen = mark === undefined
    if (this.#isOpen) this.#onOpen()
  }

  push(bytes: Uint8Array): Uint8Array {
    if (this.#isOpen || this.#mark === undefined) return bytes
    this.#held = Buffer.concat([this.#held, bytes])
    const at = this.#held.indexOf(this.#mark)
    if (at === -1) return new Uint8Array()
    this.#isOpen = true
    this.#onOpen()
    const rest = this.#held.subarray(at + this.#mark.length)
    this.#held = Buffer.alloc(0)
    return rest
  }
}
