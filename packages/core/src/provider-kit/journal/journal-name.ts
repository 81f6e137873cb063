import { InvalidInputError } from '../../errors/error-classes.ts'
import { assertId } from '../../identifier.ts'

/** Leaves room for the endings of a journal's files in a file name of 255 bytes. */
const MAX_NAME_LENGTH = 240
const NAME = /^(?:[a-z0-9-]|_[0-9a-f]{2})+$/
const PLAIN = /[a-z0-9-]/

/**
 * The file name of a run's journal: small letters, digits and `-` stand for themselves, every other byte is `_` and two
 * hexadecimal digits. One-to-one, also where file names ignore case. `INVALID_ID` for an unusable or overlong id.
 */
export function journalName(runId: string): string {
  const name = encode(assertId('runId', runId))
  if (name.length <= MAX_NAME_LENGTH) return name
  throw new InvalidInputError('INVALID_ID', 'runId is too long to name a journal.', { details: { kind: 'runId' } })
}

/** The run id that a name stands for, or undefined when no run id has this name. */
export function runIdOfJournal(name: string): string | undefined {
  if (!NAME.test(name)) return undefined
  const hex = name.replaceAll(/_(..)|(.)/g, (_, byte?: string, char?: string) => byte ?? hexOf(char ?? ''))
  const runId = Buffer.from(hex, 'hex').toString('utf8')
  return encode(runId) === name ? runId : undefined
}

function encode(runId: string): string {
  return [...Buffer.from(runId, 'utf8')]
    .map((byte) => {
      const char = String.fromCharCode(byte)
      return PLAIN.test(char) ? char : `_${byte.toString(16).padStart(2, '0')}`
    })
    .join('')
}

function hexOf(char: string): string {
  return char.charCodeAt(0).toString(16).padStart(2, '0')
}
