import { InvalidInputError } from '../errors/error-classes.ts'

/**
 * `arg` as one word of a POSIX shell, whatever it holds. Rejects NUL (`INVALID_ARGUMENT`), which no command line can
 * carry.
 */
export function shellQuote(arg: string): string {
  if (typeof arg !== 'string') throw new InvalidInputError('INVALID_ARGUMENT', 'A shell word must be a string.')
  if (arg.includes('\0')) throw new InvalidInputError('INVALID_ARGUMENT', 'A shell word must not hold a NUL character.')
  return `'${arg.replaceAll("'", String.raw`'\''`)}'`
}

/** A command line that runs `argv` with exactly these arguments. Rejects an empty list (`INVALID_ARGUMENT`). */
export function shellCommand(argv: readonly string[]): string {
  if (argv.length === 0) throw new InvalidInputError('INVALID_ARGUMENT', 'A command needs at least its name.')
  return argv.map(shellQuote).join(' ')
}
