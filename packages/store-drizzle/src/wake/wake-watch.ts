/** Somebody who waits for a topic. A wake that comes while nobody waits is kept for the next `next`. */
export class WakeWatch {
  readonly token: string
  readonly #stop: () => void
  #isDue = false
  #resume: (() => void) | undefined

  constructor(token: string, stop: () => void) {
    this.token = token
    this.#stop = stop
  }

  wake(): void {
    this.#isDue = true
    this.#resume?.()
  }

  /** Resolves on a wake or when the signal aborts; never rejects. */
  async next(signal?: AbortSignal): Promise<void> {
    if (!this.#isDue && signal?.aborted !== true) await this.#wait(signal)
    this.#isDue = false
  }

  stop(): void {
    this.#stop()
    this.wake()
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const resume = (): void => {
        this.#resume = undefined
        signal?.removeEventListener('abort', resume)
        resolve()
      }
      this.#resume = resume
      signal?.addEventListener('abort', resume, { once: true })
    })
  }
}
