import type { JournalLiveness } from './journal-liveness.ts'

/** Some of a journal's bytes, in order and without gaps. */
export interface JournalPiece {
  bytes: Uint8Array
  /** Seen before the bytes were read: of a dead process there is nothing more to come after them. */
  liveness: JournalLiveness
  /** All that there was has been read. */
  isAtEnd: boolean
}

/** The journal as a sequence of pieces from `start` on. Ends only when there can be no more. */
export type JournalSource = AsyncGenerator<JournalPiece, void>

/** Reads start at a multiple of this, because a skip by whole blocks costs nothing. */
export const BLOCK_BYTES = 4_096

/** `bytes` of a read that began at the block before `start`, without what lies before it. */
export function afterStart(bytes: Uint8Array, start: number): Uint8Array {
  return bytes.subarray(start % BLOCK_BYTES)
}

export function fromBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'))
}
