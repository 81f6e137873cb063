import { assertEnvVars } from '@holdfast/core/provider-kit'
import { InvalidInputError, NotFoundError } from '@holdfast/core'
import type { SecretRef } from '@holdfast/core'
import { secretWeakness } from './secret-strength.ts'

/** References by name. The values stand nowhere on this object: not in JSON, not in `inspect`, not in a clone. */
export type Secrets<Name extends string = string> = { readonly [name in Name]: SecretRef }

const VALUES = new WeakMap<Secrets, ReadonlyMap<string, string>>()

/**
 * Registers secrets for a workspace and returns references to them. Each becomes an environment variable of the
 * sandbox, and each is redacted from what is stored or streamed. `INVALID_ENV_NAME` for a name that is no variable's;
 * `SECRET_TOO_WEAK` for a value under 8 bytes, a common word, a short word of letters alone, or one that repeats fewer
 * than 4 different characters, because such a value cannot be told from ordinary text.
 */
export function createSecrets<const Name extends string>(values: Readonly<Record<Name, string>>): Secrets<Name> {
  const checked = assertEnvVars(values)
  for (const [name, value] of Object.entries(checked)) assertStrong(name, value)
  const refs = Object.keys(checked).map((name): [string, SecretRef] => [name, Object.freeze({ secretName: name })])
  const secrets = Object.freeze(Object.fromEntries(refs)) as Secrets<Name>
  VALUES.set(secrets, new Map(Object.entries(checked)))
  return secrets
}

function assertStrong(name: string, value: string): void {
  const weakness = secretWeakness(value)
  if (weakness === undefined) return
  const message = `Secret ${name} ${weakness}; use a longer, random value or pass it as a plain variable.`
  throw new InvalidInputError('SECRET_TOO_WEAK', message, { details: { secretName: name } })
}

/** The value behind a reference. `SECRET_MISSING` when `secrets` does not declare its name. */
export function secretValue(secrets: Secrets | undefined, ref: SecretRef): string {
  const value = secrets === undefined ? undefined : valuesOf(secrets).get(ref.secretName)
  if (value !== undefined) return value
  const hint = secrets === undefined ? 'the workspace declares no secrets' : 'it is not among the declared secrets'
  throw new NotFoundError('SECRET_MISSING', `Secret ${ref.secretName} cannot be resolved: ${hint}.`, {
    details: { secretName: ref.secretName },
  })
}

/** Variables for the sandbox: every declared secret by its name. Hand them to `env.set` and to nothing else. */
export function secretEnv(secrets: Secrets | undefined): Record<string, string> {
  return secrets === undefined ? {} : Object.fromEntries(valuesOf(secrets))
}

function valuesOf(secrets: Secrets): ReadonlyMap<string, string> {
  const values = VALUES.get(secrets)
  if (values !== undefined) return values
  throw new InvalidInputError('INVALID_ARGUMENT', 'secrets must be the object that createSecrets returned, not a copy.')
}
