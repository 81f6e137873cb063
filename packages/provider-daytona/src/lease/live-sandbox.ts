import { isHoldfastError, NotFoundError, ProviderError } from '@holdfast/core/provider-kit'
import type { DaytonaAccount, RequestOptions } from '../account/daytona-account.ts'
import { isGone, statusOf } from '../errors.ts'
import { SessionPool } from '../exec/session-pool.ts'
import { refreshSandbox } from '../sandbox/find-sandbox.ts'
import { isAtRest, meaningOf } from '../sandbox/sandbox-states.ts'
import type { VendorSandbox } from '../sdk.ts'
import { LeaseGate } from './lease-gate.ts'
import type { PreparedSandbox } from './prepare-sandbox.ts'

/** One started and prepared sandbox: what commands, files and terminals of it share. */
export class LiveSandbox {
  readonly account: DaytonaAccount
  readonly vendor: VendorSandbox
  readonly id: string
  readonly workspaceRoot: string
  readonly stateDir: string
  readonly gate: LeaseGate
  readonly sessions: SessionPool
  /** Ends everything that is open when the sandbox is torn down. Each may be called twice. */
  readonly openThings = new Set<() => Promise<void> | void>()
  /** Runs whose results have arrived; their files go with the next command. */
  readonly finishedRuns: string[] = []
  #touchedAt: number

  constructor(account: DaytonaAccount, vendor: VendorSandbox, prepared: PreparedSandbox) {
    this.account = account
    this.vendor = vendor
    this.id = vendor.id
    this.workspaceRoot = prepared.workspaceRoot
    this.stateDir = prepared.stateDir
    this.gate = new LeaseGate(account.clock, vendor.id)
    this.sessions = new SessionPool(this)
    this.#touchedAt = account.clock.monotonic()
  }

  /** Milliseconds since the last request that the sandbox took. */
  get idleMs(): number {
    return this.account.clock.monotonic() - this.#touchedAt
  }

  touch(): void {
    this.#touchedAt = this.account.clock.monotonic()
  }

  /** A request to the sandbox itself. A failure is told by the sandbox's state: stopped, gone, or out of reach. */
  async request<T>(options: RequestOptions, send: () => Promise<T>): Promise<T> {
    return this.gate.pass(() => this.requestUngated(options, send))
  }

  /** For a teardown, which runs while the gate is shut. */
  async requestUngated<T>(options: RequestOptions, send: () => Promise<T>): Promise<T> {
    try {
      const answer = await this.account.request(options, send)
      this.touch()
      return answer
    } catch (error) {
      if (options.signal?.aborted === true || !mayBeState(error)) throw error
      throw await this.#explain(error, options.operation)
    }
  }

  /** The gateway gives the same answers for a bad request, a stopped sandbox and a lost machine. */
  async #explain(error: unknown, operation: string): Promise<unknown> {
    try {
      await refreshSandbox(this.account, this.vendor)
    } catch (readError) {
      return isGone(readError) ? goneError(this.id, error) : unreachableError(this.id, operation, error)
    }
    const { state } = this.vendor
    if (['gone', 'ending'].includes(meaningOf(state))) return goneError(this.id, error)
    const details = { sandboxId: this.id, state: String(state), operation, statusCode: statusOf(error) }
    if (isAtRest(state) || meaningOf(state) === 'failed') {
      const message = `Sandbox ${this.id} is ${String(state)}, so ${operation} failed. Resume it and try again.`
      return new ProviderError('SANDBOX_STOPPED', message, { cause: error, details, retryable: true })
    }
    // The service knows the sandbox: what it did not find is something inside it.
    if ([400, 404, 409, 410].includes(details.statusCode ?? 0)) return insideError(error, operation, details)
    return unreachableError(this.id, operation, error)
  }
}

function mayBeState(error: unknown): boolean {
  if (isHoldfastError(error, 'SANDBOX_CLOSED') || isHoldfastError(error, 'PROVIDER_RATE_LIMITED')) return false
  const status = statusOf(error)
  if (isHoldfastError(error, 'PROVIDER_REFUSED')) return false
  return status === undefined || [400, 404, 409, 410].includes(status) || status >= 500
}

function insideError(
  error: unknown,
  operation: string,
  details: { statusCode: number | undefined; sandboxId: string },
): unknown {
  if (!isGone(error)) return error
  return new ProviderError('PROVIDER_FAILED', `${operation}: the sandbox says that there is no such thing.`, {
    cause: error,
    details: { ...details, operation },
  })
}

function goneError(sandboxId: string, cause: unknown): NotFoundError {
  return new NotFoundError('SANDBOX_NOT_FOUND', `Sandbox ${sandboxId} no longer exists.`, {
    cause,
    details: { sandboxId },
  })
}

function unreachableError(sandboxId: string, operation: string, cause: unknown): ProviderError {
  const message = `${operation}: sandbox ${sandboxId} could not be reached. It may well still exist; try again.`
  return new ProviderError('SANDBOX_UNREACHABLE', message, {
    cause,
    details: { sandboxId, operation },
    retryable: true,
  })
}
