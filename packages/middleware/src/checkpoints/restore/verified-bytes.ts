import { createHash } from 'node:crypto'
import type { BlobStore } from '@holdfast/core'

/** Bytes of a blob that fail at their end when they are not those of the key's hash and of this size. */
export async function* verifiedBytes(
  blobs: BlobStore,
  content: { blobKey: string; size: number },
  faults: { missing: () => Error; invalid: () => Error },
): AsyncGenerator<Uint8Array, void, undefined> {
  const blob = await blobs.get(content.blobKey)
  if (blob === null) throw faults.missing()
  const hash = createHash('sha256')
  let size = 0
  for await (const piece of blob.body) {
    hash.update(piece)
    size += piece.length
    if (size > content.size) throw faults.invalid()
    yield piece
  }
  if (size !== content.size || !content.blobKey.endsWith(`/${hash.digest('hex')}`)) throw faults.invalid()
}
