import { InvalidInputError, StoreError } from '../errors/error-classes.ts'
import { assertId } from '../identifier.ts'

const CONTENT_KEY = /(?:^|\/)sha256\/([0-9a-f]{64})$/

/** Returns `key` when it can name a blob, else throws `INVALID_ID`. */
export function assertBlobKey(key: unknown): string {
  return assertId('key', key)
}

/** The hash that a key promises for its bytes, or undefined when it promises none. */
export function contentHashOfKey(key: string): string | undefined {
  return CONTENT_KEY.exec(key)?.[1]
}

/** Throws `BLOB_MISMATCH` when stored bytes would break the promise of their key or of `expectedLength`. */
export function assertBlobContent(
  key: string,
  content: { sha256: string; size: number },
  expectedLength: number | undefined,
): void {
  const promised = contentHashOfKey(key)
  if (promised !== undefined && promised !== content.sha256) {
    throw blobMismatch(key, 'have another SHA-256 than the key promises')
  }
  if (expectedLength !== undefined && expectedLength !== content.size) {
    throw blobMismatch(key, `are ${content.size}, not ${expectedLength} as promised`)
  }
}

/** The part of a blob that a range gives: cut at the end, empty beyond it. `INVALID_ARGUMENT` for a malformed range. */
export function clampBlobRange(
  size: number,
  range: { offset: number; length?: number } | undefined,
): { offset: number; length: number } {
  const { offset, length = size } = range ?? { offset: 0 }
  for (const [name, value] of Object.entries({ offset, length })) {
    if (Number.isSafeInteger(value) && value >= 0) continue
    throw new InvalidInputError('INVALID_ARGUMENT', `range.${name} must be an integer, 0 or more.`)
  }
  return { offset, length: Math.max(0, Math.min(length, size - offset)) }
}

function blobMismatch(key: string, fault: string): StoreError {
  return new StoreError('BLOB_MISMATCH', `The bytes for blob ${key} ${fault}. Nothing was stored.`, {
    details: { key },
  })
}
