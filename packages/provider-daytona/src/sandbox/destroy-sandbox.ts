import { isHoldfastError, ProviderError } from '@holdfast/core/provider-kit'
import type { DaytonaAccount } from '../account/daytona-account.ts'
import { isGone, statusOf } from '../errors.ts'
import type { VendorSandbox } from '../sdk.ts'
import { findSandboxByIdOrKey, refreshSandbox } from './find-sandbox.ts'
import { keepIdentity } from './keep-identity.ts'
import { meaningOf } from './sandbox-states.ts'

const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 2_000

/** Destroys a sandbox by its id or the key it was created with. One that is gone is fine. */
export async function destroySandbox(account: DaytonaAccount, idOrKey: string, signal?: AbortSignal): Promise<void> {
  try {
    const sandbox = await findSandboxByIdOrKey(account, idOrKey, signal)
    if (sandbox !== null) await deleteSandbox(account, sandbox, signal)
  } catch (error) {
    throw destroyError(idOrKey, error, signal)
  }
}

/** Sends the deletion until the service has taken it, waiting for changes that are in progress. */
export async function deleteSandbox(
  account: DaytonaAccount,
  sandbox: VendorSandbox,
  signal?: AbortSignal,
): Promise<void> {
  const startedAt = account.clock.monotonic()
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
    if (isEnding(sandbox)) return
    try {
      await account.request({ operation: 'sandbox delete', isRepeatable: true, signal }, () =>
        keepIdentity(sandbox, () => sandbox.delete(Math.ceil(account.livenessMs / 1000))),
      )
      // Without a word about its new state the deletion is not yet proven.
      if (isEnding(sandbox) || (await isDeleted(account, sandbox, signal))) return
    } catch (error) {
      if (isGone(error)) return
      const isLate = account.clock.monotonic() - startedAt > account.options.timeoutMs
      if (isLate || !isRefusedForNow(error)) throw error
      await account.pause(pauseMs, signal)
      if (await isDeleted(account, sandbox, signal)) return
    }
  }
}

function isEnding(sandbox: VendorSandbox): boolean {
  return ['gone', 'ending'].includes(meaningOf(sandbox.state))
}

/** The service refuses with 409, some versions with 400, while another change is in progress. */
function isRefusedForNow(error: unknown): boolean {
  return [400, 409].includes(statusOf(error) ?? 0)
}

async function isDeleted(account: DaytonaAccount, sandbox: VendorSandbox, signal?: AbortSignal): Promise<boolean> {
  try {
    await refreshSandbox(account, sandbox, signal)
    return isEnding(sandbox)
  } catch (error) {
    if (isGone(error)) return true
    throw error
  }
}

function destroyError(idOrKey: string, error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true || isHoldfastError(error, 'SANDBOX_CLOSED')) return error
  const message = `Sandbox ${idOrKey} could not be destroyed; it may still exist, so try again.`
  return new ProviderError('SANDBOX_DESTROY_FAILED', message, {
    cause: error,
    details: { sandboxId: idOrKey, reason: isHoldfastError(error) ? error.code : undefined },
    retryable: true,
  })
}
