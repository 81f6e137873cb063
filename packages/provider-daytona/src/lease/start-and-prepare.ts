import { isHoldfastError, ProviderError } from '@holdfast/core/provider-kit'
import type { DaytonaAccount } from '../account/daytona-account.ts'
import { refreshSandbox } from '../sandbox/find-sandbox.ts'
import { meaningOf } from '../sandbox/sandbox-states.ts'
import { ensureStarted } from '../sandbox/start-sandbox.ts'
import type { VendorSandbox } from '../sdk.ts'
import { prepareSandbox } from './prepare-sandbox.ts'
import type { PreparedSandbox, PrepareInput } from './prepare-sandbox.ts'

const MAX_STARTS = 3

/**
 * Starts a sandbox and makes it ready. Somebody else, or the service's idle timer, may stop it in between; then it is
 * started again. Rejects with `SANDBOX_NOT_FOUND` only when the service says that it is gone.
 */
export async function startAndPrepare(
  account: DaytonaAccount,
  sandbox: VendorSandbox,
  input: PrepareInput,
): Promise<PreparedSandbox> {
  for (let start = 1; ; start += 1) {
    await ensureStarted(account, sandbox, input.signal)
    try {
      return await prepareSandbox(account, sandbox, input)
    } catch (error) {
      if (input.signal?.aborted === true || isHoldfastError(error, 'SANDBOX_CLOSED')) throw error
      await refreshSandbox(account, sandbox, input.signal)
      if (start >= MAX_STARTS || meaningOf(sandbox.state) === 'ready') throw readyError(error)
    }
  }
}

/** The service has the sandbox, so "not found" was said of something else. */
function readyError(error: unknown): unknown {
  if (!isHoldfastError(error, 'SANDBOX_NOT_FOUND')) return error
  const message = 'The sandbox exists and could not be reached. Try again.'
  return new ProviderError('SANDBOX_UNREACHABLE', message, { cause: error, retryable: true })
}
