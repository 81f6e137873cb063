import { createHash, randomBytes } from 'node:crypto'
import { InvalidInputError } from '../../errors/error-classes.ts'

const MARKER = '@holdfast-exit'
const NONCE = /^[0-9a-f]{32}$/

/** Longest marker line with the line ends around it. */
export const MAX_MARKER_BYTES = 64

/** A secret of the caller. Whoever does not know it cannot write a line that ends a journal. */
export function newJournalNonce(): string {
  return randomBytes(16).toString('hex')
}

export function assertNonce(nonce: unknown): string {
  if (typeof nonce === 'string' && NONCE.test(nonce)) return nonce
  throw new InvalidInputError('INVALID_ARGUMENT', 'nonce must come from newJournalNonce().')
}

/** What the sandbox may know of a nonce: enough to tell a repeated start from somebody else's. */
export function tokenOf(nonce: string): string {
  return createHash('sha256').update(nonce).digest('hex').slice(0, 32)
}

/** Shell words that print the marker line: the nonce is in `$n`, the exit code in `$c`. */
export const PRINT_MARKER = `printf '\\n%s %s %s\\n' ${MARKER} "$n" "$c"`

/** The exit code when this line, without its line end, is the marker; else undefined. */
export function exitCodeOfLine(line: Uint8Array, nonce: string): number | undefined {
  if (line.length > MAX_MARKER_BYTES || line[0] !== MARKER.charCodeAt(0)) return undefined
  const [, code] = new RegExp(`^${MARKER} ${nonce} (\\d{1,3})$`).exec(Buffer.from(line).toString('latin1')) ?? []
  return code === undefined ? undefined : Number(code)
}
