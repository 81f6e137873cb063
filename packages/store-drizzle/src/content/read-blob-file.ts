import type { FileHandle } from 'node:fs/promises'

const READ_BYTES = 64 * 1024

/** A part of an open file, piece by piece. Closes the file at the end, and when the reader stops early. */
export async function* readBlobFile(
  handle: FileHandle,
  { offset, length }: { offset: number; length: number },
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    let position = offset
    const end = offset + length
    while (position < end) {
      const buffer = Buffer.alloc(Math.min(READ_BYTES, end - position))
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, position)
      if (bytesRead === 0) return
      position += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await handle.close()
  }
}
