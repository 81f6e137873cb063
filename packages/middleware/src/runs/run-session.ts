import type { ModelMessage, StreamChunk } from '@tanstack/ai'
import type { Clock, HoldfastStores, WriteFence } from '@holdfast/core'
import { outcomeOfStop } from './run-outcome.ts'
import type { RunOutcome, StopReason } from './run-outcome.ts'
import { ABORT_REASONS } from './stop-signal.ts'
import { withoutSecrets } from '../secrets/redacted-error.ts'
import type { SecretRedactor } from '../secrets/secret-redactor.ts'
import type { RunTrace } from '../telemetry/run-trace.ts'
import type { Tenant } from './tenant.ts'

/** Name of the end handler that ends the run's command in the sandbox. */
export const AGENT_END = 'agent'

/** Work that must happen once when a run ends on this host, whoever notices the end first. */
export interface EndHandler {
  readonly name: string
  readonly run: (outcome: RunOutcome) => Promise<void>
}

export interface RunSessionInput {
  runId: string
  threadId: string
  stores: HoldfastStores
  clock: Clock
  tenant: Tenant
  /** Absent for a run that is not durable: it has no record and no fence. */
  epoch?: number
  isOfChat?: boolean
}

/**
 * What one run holds on this host. It exists before the first slow await, so that a disconnect, a cancel or a shutdown at
 * any point finds what there is so far.
 */
export class RunSession {
  readonly runId: string
  readonly threadId: string
  readonly stores: HoldfastStores
  readonly clock: Clock
  readonly tenant: Tenant
  /** Claimed by a chat that is told so. Another one with the same run id is another request. */
  readonly isOfChat: boolean
  readonly controller = new AbortController()
  /** Settles when this host has nothing more to do for the run. */
  readonly ended: Promise<void>
  epoch: number | undefined
  keepSandbox = false
  /** Takes secrets out of all that is stored of the run. Set once they are known, before anything could show them. */
  redactor: SecretRedactor | undefined
  stopReason: StopReason | undefined
  /** Absent where the app has no OpenTelemetry. */
  trace: RunTrace | undefined
  /** The conversation that is answered, where the chat was made before the run was claimed and has another. */
  turn: readonly ModelMessage[] | undefined
  /** Events of the end of the run, stored just before its last one. The engine takes none by then. */
  readonly lastEvents: StreamChunk[] = []
  #outcome: RunOutcome | undefined
  #handlers: { handler: EndHandler; done?: Promise<void> }[] = []
  #stopListeners: ((reason: StopReason) => void)[] = []
  #markEnded: () => void = () => undefined

  constructor(input: RunSessionInput) {
    this.runId = input.runId
    this.threadId = input.threadId
    this.stores = input.stores
    this.clock = input.clock
    this.tenant = input.tenant
    this.epoch = input.epoch
    this.isOfChat = input.isOfChat ?? false
    this.ended = new Promise((resolve) => {
      this.#markEnded = resolve
    })
  }

  /** What writes of this driver carry; undefined when the run is not durable. */
  get fence(): WriteFence | undefined {
    return this.epoch === undefined ? undefined : { runId: this.runId, epoch: this.epoch }
  }

  get outcome(): RunOutcome | undefined {
    return this.#outcome
  }

  /** The first word on how it ended stands, except that a lost run can never be anything else. */
  settle(outcome: RunOutcome): RunOutcome {
    if (outcome.status === 'lost') this.#outcome = outcome
    this.#outcome ??= outcome
    return this.#outcome
  }

  /** Asks the run to stop here. The first reason stands, except that `lost` beats the others. Repeatable. */
  stop(reason: StopReason, options: { keepSandbox?: boolean } = {}): void {
    if (reason === 'cancel') this.keepSandbox ||= options.keepSandbox ?? false
    if (this.stopReason !== undefined && reason !== 'lost') return
    this.stopReason = reason
    if (reason === 'lost') this.settle({ status: 'lost' })
    this.controller.abort(ABORT_REASONS[reason])
    for (const listener of this.#stopListeners.splice(0)) listener(reason)
  }

  /** Called once when the run is asked to stop; at once when it was already. */
  onStop(listener: (reason: StopReason) => void): void {
    if (this.stopReason === undefined) this.#stopListeners.push(listener)
    else listener(this.stopReason)
  }

  /** The outcome that a stop implies; undefined when nobody asked for one. */
  stoppedOutcome(): RunOutcome | undefined {
    return this.stopReason === undefined ? undefined : outcomeOfStop(this.stopReason, this.keepSandbox)
  }

  addEndHandler(handler: EndHandler): void {
    this.#handlers.push({ handler })
  }

  /** Runs the named handler unless it has run; every caller waits for the same run of it. */
  runEndHandler(name: string, outcome: RunOutcome): Promise<void> {
    const entry = this.#handlers.find(({ handler }) => handler.name === name)
    if (entry === undefined) return Promise.resolve()
    entry.done ??= withoutSecrets(this.redactor, () => entry.handler.run(outcome))
    return entry.done
  }

  /** Runs every handler in the order they were added. All are tried; the first failure is thrown at the end. */
  async runEndHandlers(outcome: RunOutcome): Promise<void> {
    const failures: unknown[] = []
    for (const { handler } of this.#handlers) {
      try {
        await this.runEndHandler(handler.name, outcome)
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  markEnded(): void {
    this.#markEnded()
  }
}
