import { redactedError } from './redacted-error.ts'
import type { SecretRedactor } from './secret-redactor.ts'

/** Warns the process of an error that nobody else hears of, without the secrets that the redactor knows. */
export function warnOf(error: unknown, redactor?: SecretRedactor): void {
  const shown = redactedError(redactor, error)
  process.emitWarning(shown instanceof Error ? shown : String(shown))
}
