import { redactedError } from '../secrets/redacted-error.ts'
import type { SecretRedactor } from '../secrets/secret-redactor.ts'

/** Where things go that are wrong but stop nothing. `console` fits. */
export interface DefinitionLogger {
  warn: (message: string, cause?: unknown) => void
}

/** The same, and what it is told shows no secret. */
export function loggerWithoutSecrets(logger: DefinitionLogger, redactor: SecretRedactor): DefinitionLogger {
  return {
    warn(message, cause) {
      if (cause === undefined) logger.warn(redactor.text(message))
      else logger.warn(redactor.text(message), redactedError(redactor, cause))
    },
  }
}
