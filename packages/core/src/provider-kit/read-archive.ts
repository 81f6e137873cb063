import { createTarDecoder } from 'modern-tar'
import type { TarHeader } from 'modern-tar'
import { CorruptDataError, InvalidInputError } from '../errors/error-classes.ts'
import { isHoldfastError } from '../errors/holdfast-error.ts'
import { archivePath } from './archive-entry.ts'
import type { ReadArchiveEntry } from './archive-entry.ts'

const PERMISSION_BITS = 0o7777

/**
 * The entries of a tar archive, in order, as they arrive. A body that the consumer leaves unread is skipped when the
 * next entry is asked for. `INVALID_PATH` for an entry outside the root, `CORRUPT_DATA` for an archive that is
 * malformed or ends early; a failure of the source passes through.
 */
export async function* readArchive(
  archive: ReadableStream<Uint8Array>,
): AsyncGenerator<ReadArchiveEntry, void, undefined> {
  const source = new WatchedSource(archive)
  const entries = source.stream.pipeThrough(createTarDecoder({ strict: true })).getReader()
  try {
    for (;;) {
      const { done, value } = await entries.read()
      if (done) return
      const body = new EntryBody(value.body, (error) => source.toError(error))
      yield toEntry(value.header, body.stream)
      await body.skip()
    }
  } catch (error) {
    throw source.toError(error)
  } finally {
    // Also lets the source go when the consumer stops early.
    await entries.cancel().catch(() => undefined)
    await source.letGo()
  }
}

/** Tells failures of the source from faults of the archive. */
class WatchedSource {
  readonly stream: ReadableStream<Uint8Array>
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  #failure: { error: unknown } | undefined

  constructor(archive: ReadableStream<Uint8Array>) {
    const reader = archive.getReader()
    this.#reader = reader
    this.stream = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          this.#failure = { error }
          controller.error(error)
        }
      },
      cancel: (reason) => reader.cancel(reason),
    })
  }

  /**
   * Not every Node passes the end of a reader on through a pipe before it answers. A source that fails to let go must not
   * hide what was wrong with the archive.
   */
  async letGo(): Promise<void> {
    if (this.#failure === undefined) await this.#reader.cancel().catch(() => undefined)
  }

  toError(error: unknown): Error {
    if (this.#failure !== undefined && this.#failure.error === error) return error as Error
    if (isHoldfastError(error)) return error
    return new CorruptDataError('CORRUPT_DATA', 'The archive is malformed or ends early.', { cause: error })
  }
}

/** One entry's bytes. Once the reader has gone on to the next entry, what is left of them is an error, never an end. */
class EntryBody {
  readonly stream: ReadableStream<Uint8Array>
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  #isLeft = false

  constructor(body: ReadableStream<Uint8Array>, toError: (error: unknown) => Error) {
    this.#reader = body.getReader()
    this.stream = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const { done, value } = await this.#reader.read()
            if (this.#isLeft) throw leftError()
            if (done) controller.close()
            else controller.enqueue(value)
          } catch (error) {
            controller.error(toError(error))
          }
        },
        cancel: (reason) => this.#reader.cancel(reason),
      },
      { highWaterMark: 0 },
    )
  }

  async skip(): Promise<void> {
    this.#isLeft = true
    await this.#reader.cancel()
  }
}

function leftError(): InvalidInputError {
  return new InvalidInputError('INVALID_ARGUMENT', 'Read the body of an archive entry before asking for the next one.')
}

function toEntry(header: TarHeader, body: ReadableStream<Uint8Array>): ReadArchiveEntry {
  const path = archivePath(header.name)
  const mode = (header.mode ?? 0) & PERMISSION_BITS
  switch (header.type) {
    case undefined:
    case 'file':
      return { path, kind: 'file', size: header.size, mode, body }
    case 'directory':
      return { path, kind: 'dir', mode }
    case 'symlink':
      return { path, kind: 'symlink', target: header.linkname ?? '' }
    case 'link':
      return { path, kind: 'hardlink', target: archivePath(header.linkname ?? '') }
    default:
      return { path, kind: 'other' }
  }
}
