import { assertMs, InvalidInputError, systemClock } from '@holdfast/core'
import type { Clock, HoldfastStores, SandboxInstanceRecord, SandboxProvider } from '@holdfast/core'
import { runWithDeadline } from '@holdfast/core/provider-kit'
import type { SandboxDefinition } from '../definition/sandbox-definition.ts'
import { SANDBOX_LABEL } from '../definition/sandbox-labels.ts'

/** Whose sandboxes are compared with the store. */
export interface SweepSandboxesInput {
  stores: HoldfastStores
  /** Sweeps what this definition made. */
  sandbox?: SandboxDefinition
  /** Sweeps what any definition made with this provider. One of the two is needed. */
  provider?: SandboxProvider
  /** Nothing younger is touched: a list may lag behind, and a build takes its time. */
  minAgeMs: number
  /** Says what would be done and changes nothing. Default false. */
  dryRun?: boolean
  /**
   * Destroys sandboxes although the store has no row of the provider at all. Default false, because a store that knows
   * none of them is rather the wrong one.
   */
  trustEmptyStore?: boolean
  clock?: Clock
}

const DEFAULT_DESTROY_TIMEOUT_MS = 30_000

/** What one sweep works with. */
export class SweepTarget {
  readonly stores: HoldfastStores
  readonly provider: SandboxProvider
  readonly sandbox: SandboxDefinition | undefined
  readonly minAgeMs: number
  readonly dryRun: boolean
  readonly trustEmptyStore: boolean
  readonly clock: Clock
  /** When the sweep began. */
  readonly now: number

  constructor(input: SweepSandboxesInput) {
    const provider = input.sandbox?.provider ?? input.provider
    if (provider?.list === undefined) {
      const message = 'A sweep needs a definition or a provider that can list its sandboxes.'
      throw new InvalidInputError('INVALID_ARGUMENT', message)
    }
    this.stores = input.stores
    this.provider = provider
    this.sandbox = input.sandbox
    this.minAgeMs = assertMs('minAgeMs', input.minAgeMs)
    this.dryRun = input.dryRun ?? false
    this.trustEmptyStore = input.trustEmptyStore ?? false
    this.clock = input.clock ?? systemClock
    this.now = this.clock.now()
  }

  /** What the service's list is asked for. */
  get labels(): Record<string, string> {
    const app = this.sandbox === undefined ? {} : { [SANDBOX_LABEL.app]: this.sandbox.id }
    return { [SANDBOX_LABEL.marker]: '1', ...app }
  }

  isOwn(row: SandboxInstanceRecord): boolean {
    if (row.provider !== this.provider.name || row.labels?.[SANDBOX_LABEL.marker] !== '1') return false
    return this.sandbox === undefined || row.labels[SANDBOX_LABEL.app] === this.sandbox.id
  }

  destroy(sandboxId: string): Promise<void> {
    const timeoutMs = this.sandbox?.destroyTimeoutMs ?? DEFAULT_DESTROY_TIMEOUT_MS
    const options = { operation: 'sandbox destroy', timeoutMs, clock: this.clock }
    return runWithDeadline(options, (signal) => this.provider.destroy({ id: sandboxId, signal }))
  }

  /** Runs `work` when nobody builds or removes the sandbox of this key: `LOCK_TIMEOUT` when somebody does. */
  withLock<T>(key: string, work: () => Promise<T>): Promise<T> {
    return this.stores.locks.withLock(`sandbox:${key}`, work, { waitMs: LOCK_WAIT_MS })
  }
}

const LOCK_WAIT_MS = 1_000
