import { InvalidInputError } from '../errors/error-classes.ts'
import type { BlobBody } from './blob-store.ts'

/**
 * The bytes of any blob body as a stream of pieces. A consumer that stops early cancels a stream body, so that its
 * source lets go.
 */
export async function* blobChunks(body: BlobBody): AsyncGenerator<Uint8Array, void, undefined> {
  if (typeof body === 'string') yield new TextEncoder().encode(body)
  else if (body instanceof ArrayBuffer) yield new Uint8Array(body)
  else if (ArrayBuffer.isView(body)) yield new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
  else if (body instanceof Blob) yield* streamChunks(body.stream())
  else if (body instanceof ReadableStream) yield* streamChunks(body)
  else throw new InvalidInputError('INVALID_ARGUMENT', 'A blob body must be a stream, bytes, text or a Blob.')
}

async function* streamChunks(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of stream) {
    if (!(chunk instanceof Uint8Array)) {
      throw new InvalidInputError('INVALID_ARGUMENT', 'A blob stream must give Uint8Array pieces.')
    }
    yield chunk
  }
}
