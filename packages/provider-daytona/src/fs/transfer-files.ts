import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { ProviderError } from '@holdfast/core/provider-kit'
import type { LiveSandbox } from '../lease/live-sandbox.ts'
import { newNonce } from '../naming.ts'

/** Longest time for a transfer whose size is not known. */
const TRANSFER_SECONDS = 1_800
/** A transfer that is slower than this is taken for stuck. */
const MIN_BYTES_PER_SECOND = 32 * 1024

/**
 * Bytes on their way in or out, as plainly named files beside the workspace: the service trims names, matches them by
 * text and follows links, so no caller's path is ever given to it.
 */
export class TransferFiles {
  readonly #live: LiveSandbox
  readonly #forgotten: string[] = []

  constructor(live: LiveSandbox) {
    this.#live = live
  }

  path(name: string): string {
    return `${this.#live.stateDir}/up/${name}`
  }

  /** The file goes with the next call to the sandbox. */
  forget(name: string): void {
    this.#forgotten.push(name)
  }

  takeForgotten(): string[] {
    return this.#forgotten.splice(0, 50)
  }

  #secondsFor(size: number): number {
    return Math.min(TRANSFER_SECONDS, Math.ceil(this.#live.account.livenessMs / 1000 + size / MIN_BYTES_PER_SECOND))
  }

  /** Brings bytes into the sandbox and answers the file's name. */
  async upload(data: Uint8Array, signal?: AbortSignal): Promise<string> {
    const name = newNonce()
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    const seconds = this.#secondsFor(data.length)
    const request = { operation: 'file upload', isRepeatable: true, timeoutMs: seconds * 1000, signal }
    await this.#live.request(request, () => this.#live.vendor.fs.uploadFile(bytes, this.path(name), seconds))
    return name
  }

  /** Brings a stream into the sandbox. It can be read once, so a failure is the caller's. */
  async uploadStream(
    source: ReadableStream<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<{ name: string; size: number }> {
    const name = newNonce()
    const request = { operation: 'file upload', isRepeatable: false, timeoutMs: TRANSFER_SECONDS * 1000, signal }
    const watched = new WatchedSource(source)
    const body = Readable.fromWeb(watched.stream as NodeReadableStream<Uint8Array>)
    try {
      const sent = this.#live.request({ ...request, attempts: 1 }, () =>
        this.#live.vendor.fs.uploadFileStream(body, this.path(name), {
          timeout: TRANSFER_SECONDS,
          ...(signal === undefined ? {} : { signal }),
        }),
      )
      await Promise.race([sent, watched.failed])
    } catch (error) {
      body.destroy()
      this.forget(name)
      throw watched.failure?.error ?? error
    }
    return { name, size: watched.size }
  }

  async download(name: string, size: number): Promise<Uint8Array> {
    const seconds = this.#secondsFor(size)
    const request = { operation: 'file download', isRepeatable: true, timeoutMs: seconds * 1000 }
    return this.#live.request(request, async () => {
      const bytes = await cutShort(() => this.#live.vendor.fs.downloadFile(this.path(name), seconds))
      return new Uint8Array(bytes)
    })
  }

  /** The file's bytes as a stream; one that is cut short fails. */
  async downloadStream(name: string, size: number, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const request = { operation: 'file download', isRepeatable: true, timeoutMs: TRANSFER_SECONDS * 1000, signal }
    const body = await this.#live.request(request, () =>
      cutShort(() =>
        this.#live.vendor.fs.downloadFileStream(this.path(name), {
          timeout: TRANSFER_SECONDS,
          ...(signal === undefined ? {} : { signal }),
        }),
      ),
    )
    return wholeStream(body, size, signal)
  }
}

/** Keeps why a source failed: the client tells nothing of it, and may go on waiting. */
class WatchedSource {
  readonly stream: ReadableStream<Uint8Array>
  readonly failed: Promise<never>
  failure: { error: unknown } | undefined
  /** Bytes that have passed. */
  size = 0

  constructor(source: ReadableStream<Uint8Array>) {
    const reader = source.getReader()
    let fail: (error: unknown) => void = () => undefined
    this.failed = new Promise<never>((_, reject) => {
      fail = reject
    })
    this.failed.catch(() => undefined)
    this.stream = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read()
          if (done) return controller.close()
          this.size += value.length
          controller.enqueue(value)
        } catch (error) {
          this.failure = { error }
          fail(error)
          controller.error(error)
        }
      },
      cancel: (reason) => reader.cancel(reason),
    })
  }
}

/** A transfer that is cut off rejects with an error of the multipart parser, which carries no status. */
async function cutShort<T>(transfer: () => Promise<T>): Promise<T> {
  try {
    return await transfer()
  } catch (error) {
    if (!(error instanceof Error) || error.name.startsWith('Daytona')) throw error
    throw new ProviderError('PROVIDER_UNAVAILABLE', 'A download was cut short.', { cause: error, retryable: true })
  }
}

function wholeStream(body: Readable, size: number, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  let received = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next()
          if (done !== true) {
            received += value.length
            return controller.enqueue(new Uint8Array(value))
          }
          if (received === size) return controller.close()
          throw new Error(`${received} of ${size} bytes`)
        } catch (cause) {
          if (signal?.aborted === true) return controller.error(signal.reason)
          const message = 'A download was cut short.'
          controller.error(new ProviderError('PROVIDER_UNAVAILABLE', message, { cause, retryable: true }))
        }
      },
      cancel: () => void body.destroy(),
    },
    { highWaterMark: 0 },
  )
}
