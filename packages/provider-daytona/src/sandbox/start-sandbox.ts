import { isHoldfastError, NotFoundError, ProviderError } from '@holdfast/core/provider-kit'
import type { DaytonaAccount } from '../account/daytona-account.ts'
import { isGone, statusOf } from '../errors.ts'
import type { VendorSandbox } from '../sdk.ts'
import { refreshSandbox } from './find-sandbox.ts'
import { keepIdentity } from './keep-identity.ts'
import { meaningOf } from './sandbox-states.ts'

/** An archived disk has to be pulled back first; the service itself gives that half an hour. */
const ARCHIVE_START_MS = 1_800_000
const CLIENT_WAIT_SECONDS = 20
const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 1_000
/** How often the service may refuse a change although the state looks right for it. */
const MAX_REFUSALS = 5
/** How long a state that we do not know may last before we stop waiting for it. */
const MAX_UNCLEAR_MS = 30_000

/**
 * Brings the sandbox to `started`, from wherever it is, waiting for what others have begun. Answers whether it had to be
 * started. Rejects with `SANDBOX_NOT_FOUND` when it is gone, and with a reason when it failed for good.
 */
export async function ensureStarted(
  account: DaytonaAccount,
  sandbox: VendorSandbox,
  signal?: AbortSignal,
): Promise<{ wasStarted: boolean }> {
  const wait = new StartWait(account, sandbox, signal)
  for (;;) {
    const state = sandbox.state
    switch (meaningOf(state)) {
      case 'ready':
        return { wasStarted: wait.hasActed }
      case 'startable':
        await wait.change('sandbox start', () => sandbox.start(wait.clientSeconds()))
        break
      case 'failed':
        if (sandbox.recoverable !== true || wait.hasRecovered) throw failedError(sandbox)
        wait.hasRecovered = true
        await wait.change('sandbox recover', () => sandbox.recover(wait.clientSeconds()))
        break
      case 'gone':
        throw goneError(sandbox)
      case 'unclear':
        wait.assertClearSoon()
        await wait.pause()
        break
      default:
        await wait.pause()
    }
  }
}

class StartWait {
  hasActed = false
  hasRecovered = false
  readonly #account: DaytonaAccount
  readonly #sandbox: VendorSandbox
  readonly #signal: AbortSignal | undefined
  readonly #startedAt: number
  readonly #limitMs: number
  #pauseMs = FIRST_PAUSE_MS
  #refusals = 0
  #unclearSince: number | undefined

  constructor(account: DaytonaAccount, sandbox: VendorSandbox, signal: AbortSignal | undefined) {
    this.#account = account
    this.#sandbox = sandbox
    this.#signal = signal
    this.#startedAt = account.clock.monotonic()
    const { timeoutMs } = account.options
    const isFar = ['archived', 'archiving', 'restoring', 'error'].includes(sandbox.state ?? '')
    this.#limitMs = isFar ? Math.max(timeoutMs, ARCHIVE_START_MS) : timeoutMs
  }

  /** How long the vendor's client itself may wait: short, since nothing can stop it. At least 1, since 0 is for ever. */
  clientSeconds(): number {
    return Math.max(1, Math.min(CLIENT_WAIT_SECONDS, Math.ceil(this.#remainingMs() / 1000)))
  }

  /** Sends a change of state. A refusal while another change is in progress is not an error: the state is read again. */
  async change(operation: string, send: () => Promise<void>): Promise<void> {
    this.hasActed = true
    const timeoutMs = Math.max(1, Math.min(this.#remainingMs(), (CLIENT_WAIT_SECONDS + 5) * 1000))
    try {
      const request = { operation, isRepeatable: false, timeoutMs, signal: this.#signal }
      await this.#account.request(request, () => keepIdentity(this.#sandbox, send))
    } catch (error) {
      if (isGone(error) || !this.#mayPass(error)) throw error
      this.#refusals += 1
      if (this.#refusals > MAX_REFUSALS) throw error
      await this.pause()
    }
  }

  /** Waits a moment and reads the sandbox again. */
  async pause(): Promise<void> {
    if (this.#remainingMs() <= 0) throw this.#lateError()
    await this.#account.pause(this.#pauseMs, this.#signal)
    this.#pauseMs = Math.min(MAX_PAUSE_MS, this.#pauseMs * 1.5)
    await refreshSandbox(this.#account, this.#sandbox, this.#signal)
  }

  assertClearSoon(): void {
    const now = this.#account.clock.monotonic()
    this.#unclearSince ??= now
    if (now - this.#unclearSince < Math.min(MAX_UNCLEAR_MS, this.#limitMs)) return
    const details = { sandboxId: this.#sandbox.id, state: String(this.#sandbox.state) }
    const message = `Sandbox ${details.sandboxId} is in a state that this version does not know; it is left alone.`
    throw new ProviderError('SANDBOX_UNREACHABLE', message, { details, retryable: true })
  }

  /** 400 and 409 while a change is in progress; a start whose wait broke off may still succeed. */
  #mayPass(error: unknown): boolean {
    if (this.#signal?.aborted === true || isHoldfastError(error, 'SANDBOX_CLOSED')) return false
    const status = statusOf(error)
    if (status === 400 || status === 409) return true
    // The client rejects with a plain error when the sandbox came to an error state: the next reading decides.
    return status === undefined || status >= 500 || status === 408 || status === 429
  }

  #remainingMs(): number {
    return this.#limitMs - (this.#account.clock.monotonic() - this.#startedAt)
  }

  #lateError(): ProviderError {
    const { id, state } = this.#sandbox
    const message = `Sandbox ${id} did not start within ${this.#limitMs} ms (it is ${state ?? 'unknown'}). It still exists.`
    return new ProviderError('PROVIDER_TIMEOUT', message, {
      details: { sandboxId: id, state: String(state) },
      retryable: true,
    })
  }
}

function failedError(sandbox: VendorSandbox): ProviderError {
  const reason = sandbox.errorReason === undefined ? '' : `: ${sandbox.errorReason.slice(0, 400)}`
  return new ProviderError('PROVIDER_FAILED', `Sandbox ${sandbox.id} is in state ${String(sandbox.state)}${reason}.`, {
    details: { sandboxId: sandbox.id, state: String(sandbox.state), recoverable: sandbox.recoverable === true },
  })
}

function goneError(sandbox: VendorSandbox): NotFoundError {
  return new NotFoundError('SANDBOX_NOT_FOUND', `Sandbox ${sandbox.id} was destroyed.`)
}
