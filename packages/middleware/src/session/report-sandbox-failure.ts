import { toRunError } from '../runs/run-error.ts'
import type { SecretRedactor } from '../secrets/secret-redactor.ts'

/** For failures that must not change the outcome of a run, and must not vanish either. */
export function reportSandboxFailure(what: string, error: unknown, redactor: SecretRedactor | undefined): void {
  process.emitWarning(what, {
    code: 'HOLDFAST_SANDBOX',
    detail: toRunError(error, redactor).message,
  })
}
