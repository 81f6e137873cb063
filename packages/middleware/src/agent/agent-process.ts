import { isHoldfastError } from '@holdfast/core'
import type { HoldfastStores, SandboxHandle } from '@holdfast/core'
import { stopJournal } from '@holdfast/core/provider-kit'
import { DRIVER_LEASE_MS } from '../runs/heartbeat.ts'
import type { RunOutcome } from '../runs/run-outcome.ts'
import { AGENT_END } from '../runs/run-session.ts'
import type { RunSession } from '../runs/run-session.ts'
import { findSession } from '../runs/session-registry.ts'
import { leavesRunRunning } from '../runs/stop-signal.ts'

/** What the command of a cancelled run gets to tidy up. */
const STOP_GRACE_MS = 500

export interface AgentProcessInput {
  handle: SandboxHandle
  stores: HoldfastStores
  runId: string
  dir: string | undefined
}

/**
 * The running command of one run, as seen by the host that drives it. A cancel or a failure ends it; a host that merely
 * lets go, or was superseded, leaves it to its successor.
 */
export class AgentProcess {
  readonly #input: AgentProcessInput
  readonly #session: RunSession | undefined
  #isOver = false
  #stopping: Promise<void> | undefined

  constructor(input: AgentProcessInput) {
    this.#input = input
    this.#session = findSession(input.stores, input.runId)
    this.#session?.addEndHandler({ name: AGENT_END, run: (outcome) => this.#onEnd(outcome) })
  }

  /** The command has ended by itself. */
  markOver(): void {
    this.#isOver = true
  }

  /** Called when nobody reads any more. With a session, the end of the run decides; without one, the signal does. */
  async letGo(signal: AbortSignal | undefined): Promise<void> {
    if (this.#session !== undefined) return
    if (!leavesRunRunning(signal?.reason)) await this.#stop()
  }

  async #onEnd(outcome: RunOutcome): Promise<void> {
    if (this.#isOver || (outcome.status !== 'aborted' && outcome.status !== 'failed')) return
    if (await this.#isStillOurs()) await this.#stop()
  }

  /** A superseded host may fail before it learns why; the command is its successor's by then. */
  async #isStillOurs(): Promise<boolean> {
    const fence = this.#session?.fence
    if (fence === undefined) return true
    try {
      await this.#input.stores.drivers.renew({ ...fence, ttlMs: DRIVER_LEASE_MS })
      return true
    } catch (error) {
      if (!isHoldfastError(error, 'DRIVER_LOST')) throw error
      this.#session?.stop('lost')
      return false
    }
  }

  #stop(): Promise<void> {
    if (this.#isOver) return Promise.resolve()
    const { handle, runId, dir } = this.#input
    this.#stopping ??= stopJournal({ handle, runId, graceMs: STOP_GRACE_MS, ...(dir === undefined ? {} : { dir }) })
    return this.#stopping
  }
}
