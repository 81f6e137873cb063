import { createTarDecoder } from 'modern-tar'
import type { ParsedTarEntry } from 'modern-tar'
import { CorruptDataError } from '../errors/error-classes.ts'
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
      yield toEntry(value, source)
      if (!value.body.locked) await value.body.cancel()
    }
  } catch (error) {
    throw source.toError(error)
  } finally {
    // Also lets the source go when the consumer stops early.
    await entries.cancel().catch(() => undefined)
  }
}

/** Tells failures of the source from faults of the archive. */
class WatchedSource {
  readonly stream: ReadableStream<Uint8Array>
  #failure: { error: unknown } | undefined

  constructor(archive: ReadableStream<Uint8Array>) {
    const reader = archive.getReader()
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

  toError(error: unknown): Error {
    if (this.#failure !== undefined && this.#failure.error === error) return error as Error
    if (isHoldfastError(error)) return error
    return new CorruptDataError('CORRUPT_DATA', 'The archive is malformed or ends early.', { cause: error })
  }

  /** A body whose failures are told apart in the same way. */
  body(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          reader ??= body.getReader()
          try {
            const { done, value } = await reader.read()
            if (done) controller.close()
            else controller.enqueue(value)
          } catch (error) {
            controller.error(this.toError(error))
          }
        },
        cancel: (reason) => (reader === undefined ? body.cancel(reason) : reader.cancel(reason)),
      },
      { highWaterMark: 0 },
    )
  }
}

function toEntry({ header, body }: ParsedTarEntry, source: WatchedSource): ReadArchiveEntry {
  const path = archivePath(header.name)
  const mode = (header.mode ?? 0) & PERMISSION_BITS
  switch (header.type) {
    case undefined:
    case 'file':
      return { path, kind: 'file', size: header.size, mode, body: source.body(body) }
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
