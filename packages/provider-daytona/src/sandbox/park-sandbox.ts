import { NotFoundError, ProviderError } from '@holdfast/core/provider-kit'
import type { DaytonaAccount } from '../account/daytona-account.ts'
import { isGone, statusOf } from '../errors.ts'
import type { VendorSandbox } from '../sdk.ts'
import { refreshSandbox } from './find-sandbox.ts'
import { keepIdentity } from './keep-identity.ts'
import { meaningOf } from './sandbox-states.ts'

/** The vendor's client cannot be stopped while it waits, so it waits for a short time only. */
const CLIENT_WAIT_SECONDS = 20
const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 1_000

export type ParkMode = 'stop' | 'archive'

/**
 * Brings the sandbox to rest and resolves when it is there. Archiving has only to begin: moving the disk may take many
 * minutes, and the sandbox can be started again meanwhile.
 */
export async function parkSandbox(
  account: DaytonaAccount,
  sandbox: VendorSandbox,
  mode: ParkMode,
  signal?: AbortSignal,
): Promise<void> {
  const startedAt = account.clock.monotonic()
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
    const step = nextStep(sandbox, mode)
    if (step === 'done') return
    if (account.clock.monotonic() - startedAt > account.options.timeoutMs) throw lateError(sandbox, mode)
    if (step !== 'wait' && (await tryStep(account, sandbox, step, signal))) {
      await refreshSandbox(account, sandbox, signal)
      continue
    }
    await account.pause(pauseMs, signal)
    await refreshSandbox(account, sandbox, signal)
  }
}

function nextStep(sandbox: VendorSandbox, mode: ParkMode): 'done' | 'wait' | ParkMode {
  const { state } = sandbox
  if (['gone', 'ending'].includes(meaningOf(state))) {
    throw new NotFoundError('SANDBOX_NOT_FOUND', `Sandbox ${sandbox.id} was destroyed.`)
  }
  if (state === 'archived' || state === 'archiving') return 'done'
  if (state === 'stopped') return mode === 'stop' ? 'done' : 'archive'
  if (state === 'started' || state === 'paused') return 'stop'
  if (meaningOf(state) !== 'failed') return 'wait'
  throw new ProviderError(
    'PROVIDER_FAILED',
    `Sandbox ${sandbox.id} is in state ${String(state)} and cannot be parked.`,
    {
      details: { sandboxId: sandbox.id, state: String(state) },
    },
  )
}

/** False when the service refused because something else is in progress. */
async function tryStep(
  account: DaytonaAccount,
  sandbox: VendorSandbox,
  step: ParkMode,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const timeoutMs = (CLIENT_WAIT_SECONDS + 5) * 1000
  try {
    await account.request({ operation: `sandbox ${step}`, isRepeatable: false, timeoutMs, signal }, () =>
      keepIdentity(sandbox, () => (step === 'stop' ? sandbox.stop(CLIENT_WAIT_SECONDS) : sandbox.archive())),
    )
    return true
  } catch (error) {
    if (isGone(error)) throw error
    const status = statusOf(error)
    if (status === 400 || status === 409 || status === undefined || status >= 500) return false
    throw error
  }
}

function lateError(sandbox: VendorSandbox, mode: ParkMode): ProviderError {
  const message = `Sandbox ${sandbox.id} did not ${mode} in time (it is ${String(sandbox.state)}).`
  return new ProviderError('PROVIDER_TIMEOUT', message, { details: { sandboxId: sandbox.id }, retryable: true })
}
