import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { BlobObject } from '@holdfast/core'

/** All byte values in an order that no two neighbouring places share. */
export function patternBytes(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (index * 7 + (index >> 8) * 13) % 256)
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

export async function bytesOf(object: BlobObject): Promise<Uint8Array> {
  return new Uint8Array(await object.arrayBuffer())
}

/** Fails when there is a blob, without showing it. */
export function assertNoBlob(blob: BlobObject | null): void {
  assert.ok(blob === null, `there is a blob of ${blob?.size} bytes`)
}

/** The bytes read piece by piece from `body`. */
export async function streamedBytes({ body }: BlobObject): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return new Uint8Array(Buffer.concat(pieces))
}

/** A stream of `pieceCount` equal pieces; `failAfter` pieces it fails with `failure`. */
export function byteStream(
  piece: Uint8Array,
  pieceCount: number,
  fault?: { failAfter: number; failure: Error },
): ReadableStream<Uint8Array> {
  let given = 0
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (fault !== undefined && given === fault.failAfter) controller.error(fault.failure)
        else if (given === pieceCount) controller.close()
        else controller.enqueue(piece.slice())
        given += 1
      },
    },
    { highWaterMark: 0 },
  )
}
