import { InvalidInputError } from '../errors/error-classes.ts'

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * A checked copy of `vars`. `INVALID_ENV_NAME` for a name that a shell could read as syntax, `INVALID_ARGUMENT` for a
 * value that is no string or holds NUL. Values never appear in the message.
 */
export function assertEnvVars(vars: Readonly<Record<string, string>> | undefined): Record<string, string> {
  if (vars === undefined) return {}
  if (typeof vars !== 'object' || vars === null) {
    throw new InvalidInputError('INVALID_ARGUMENT', 'Environment variables must be an object of strings.')
  }
  for (const [name, value] of Object.entries(vars)) {
    if (!ENV_NAME.test(name)) {
      const details = { name: name.slice(0, 64) }
      throw new InvalidInputError('INVALID_ENV_NAME', 'An environment variable has an unusable name.', { details })
    }
    if (typeof value !== 'string' || value.includes('\0')) {
      throw new InvalidInputError('INVALID_ARGUMENT', `The value of ${name} must be a string without NUL characters.`)
    }
  }
  return { ...vars }
}
