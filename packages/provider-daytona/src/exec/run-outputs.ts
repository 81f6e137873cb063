import { ProviderError } from '@holdfast/core/provider-kit'

export type OutputName = 'stdout' | 'stderr'

/** Where each output of a run stands, so that bytes that come again are delivered once. */
export class RunOutputs {
  readonly #onBytes: (name: OutputName, bytes: Uint8Array) => void
  readonly #delivered: Record<OutputName, number> = { stdout: 0, stderr: 0 }

  constructor(onBytes: (name: OutputName, bytes: Uint8Array) => void) {
    this.#onBytes = onBytes
  }

  /** Bytes of each output that were delivered so far. */
  get offsets(): { stdout: number; stderr: number } {
    return { ...this.#delivered }
  }

  /** Reads one transmission, which starts at these offsets. */
  reader(from: { stdout: number; stderr: number }): (name: OutputName, bytes: Uint8Array) => void {
    const position = { ...from }
    return (name, bytes) => {
      const skip = this.#delivered[name] - position[name]
      position[name] += bytes.length
      if (skip < 0) {
        const message = `A part of ${name} is missing from what the sandbox sent.`
        throw new ProviderError('PROVIDER_FAILED', message, { retryable: true })
      }
      if (skip >= bytes.length) return
      const fresh = bytes.subarray(skip)
      this.#delivered[name] += fresh.length
      this.#onBytes(name, fresh)
    }
  }
}
