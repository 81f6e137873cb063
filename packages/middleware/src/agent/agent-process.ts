import type { HoldfastStores, SandboxHandle } from '@holdfast/core'
import { stopJournal } from '@holdfast/core/provider-kit'
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
    if (outcome.status === 'aborted' || outcome.status === 'failed') await this.#stop()
  }

  #stop(): Promise<void> {
    if (this.#isOver) return Promise.resolve()
    const { handle, runId, dir } = this.#input
    this.#stopping ??= stopJournal({ handle, runId, graceMs: STOP_GRACE_MS, ...(dir === undefined ? {} : { dir }) })
    return this.#stopping
  }
}
