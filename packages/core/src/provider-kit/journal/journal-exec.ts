import { ProviderError } from '../../errors/error-classes.ts'
import type { SandboxExecResult } from '../../sandbox/sandbox-process.ts'
import type { JournalHandle } from './journal-location.ts'

const SCRIPT_TIMEOUT_MS = 30_000

export interface JournalExecOptions {
  /** Named in errors: `journal start`. */
  operation: string
  stdin?: string
  timeoutMs?: number
  signal?: AbortSignal | undefined
}

/** Runs a short script. `PROVIDER_TIMEOUT` when it takes too long; its exit code is the caller's to judge. */
export async function journalExec(
  handle: JournalHandle,
  script: string,
  { operation, stdin, signal, timeoutMs = SCRIPT_TIMEOUT_MS }: JournalExecOptions,
): Promise<SandboxExecResult> {
  const result = await handle.process.exec(script, {
    timeoutMs,
    ...(stdin === undefined ? {} : { stdin }),
    ...(signal === undefined ? {} : { signal }),
  })
  if (result.timedOut !== true) return result
  const details = { operation, timeoutMs }
  throw new ProviderError('PROVIDER_TIMEOUT', `The ${operation} took too long in the sandbox.`, {
    details,
    retryable: true,
  })
}

/** The failure of a script that ended with an exit code it does not use itself. */
export function journalFailed(operation: string, result: SandboxExecResult): ProviderError {
  const { exitCode } = result
  const message = `The ${operation} failed in the sandbox with exit code ${exitCode}.`
  return new ProviderError('PROVIDER_FAILED', message, { details: { operation, exitCode } })
}
