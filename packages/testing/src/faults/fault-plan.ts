import { InvalidInputError, sleep, systemClock } from '@holdfast/core'
import type { Clock } from '@holdfast/core'
import { orAborted } from '@holdfast/core/provider-kit'
import { faultError } from './fault-error.ts'
import { assertFaultRules } from './fault-rule.ts'
import type { FaultOperation, FaultRule } from './fault-rule.ts'

/** Holds calls of one operation, so that a test decides what happens in the meantime. */
export interface FaultBarrier {
  /** Resolves when the first call has arrived. */
  readonly reached: Promise<void>
  /** Lets every held call go on, and later ones through. Repeatable. */
  open: () => void
}

interface PlannedRule extends FaultRule {
  /** Calls of its operation since it was added. */
  seen: number
}

interface HeldBarrier extends FaultBarrier {
  readonly arrive: () => void
  readonly opened: Promise<void>
}

/** What one call asks of the plan. */
export interface FaultedCall<Result> {
  readonly on: FaultOperation
  readonly signal?: AbortSignal | undefined
  readonly work: () => Promise<Result>
  /** The same work when what it prints is lost. */
  readonly workWithoutOutput?: () => Promise<Result>
}

/** Which calls go wrong, and how. The first rule that hits a call decides. */
export class FaultPlan {
  readonly #rules: PlannedRule[] = []
  readonly #calls = new Map<FaultOperation, number>()
  readonly #barriers = new Map<FaultOperation, HeldBarrier>()
  readonly #clock: Clock

  constructor(rules: readonly FaultRule[] = [], options: { clock?: Clock } = {}) {
    this.#clock = options.clock ?? systemClock
    this.add(...rules)
  }

  /** Reads rules from JSON text: an array, or an object whose `rules` is one. `INVALID_CONFIGURATION` when malformed. */
  static fromJson(text: string, options: { clock?: Clock } = {}): FaultPlan {
    const value = parseJson(text)
    const isWrapped = typeof value === 'object' && value !== null && 'rules' in value
    return new FaultPlan(assertFaultRules(isWrapped ? value.rules : value), options)
  }

  add(...rules: FaultRule[]): this {
    this.#rules.push(...assertFaultRules(rules).map((rule) => ({ ...rule, seen: 0 })))
    return this
  }

  /** Forgets every rule, and opens every barrier. Counts stay. */
  clear(): void {
    this.#rules.length = 0
    for (const barrier of this.#barriers.values()) barrier.open()
  }

  /** How many calls of the operation have arrived, failed and held ones included. */
  calls(on: FaultOperation): number {
    return this.#calls.get(on) ?? 0
  }

  /** Holds calls of `on` from now on, before any rule is applied, until it is opened. */
  barrier(on: FaultOperation): FaultBarrier {
    const { promise: reached, resolve: arrive } = deferred()
    const { promise: opened, resolve: letGo } = deferred()
    const barrier: HeldBarrier = {
      reached,
      arrive,
      opened,
      open: () => {
        if (this.#barriers.get(on) === barrier) this.#barriers.delete(on)
        letGo()
      },
    }
    this.#barriers.get(on)?.open()
    this.#barriers.set(on, barrier)
    return barrier
  }

  /** Runs the work of one call under the plan. */
  async run<Result>(call: FaultedCall<Result>): Promise<Result> {
    this.#calls.set(call.on, this.calls(call.on) + 1)
    const rule = this.#take(call.on)
    const barrier = this.#barriers.get(call.on)
    if (barrier !== undefined) {
      barrier.arrive()
      await orAborted(barrier.opened, call.signal)
    }
    return rule === undefined ? call.work() : this.#apply(rule, call)
  }

  #take(on: FaultOperation): FaultRule | undefined {
    let hit: FaultRule | undefined
    for (const rule of this.#rules) {
      if (rule.on !== on) continue
      rule.seen += 1
      const first = rule.nth ?? 1
      if (hit === undefined && rule.seen >= first && rule.seen < first + (rule.times ?? 1)) hit = rule
    }
    return hit
  }

  async #apply<Result>(rule: FaultRule, call: FaultedCall<Result>): Promise<Result> {
    switch (rule.do) {
      case 'fail':
        throw faultError(rule)
      case 'delay':
        await sleep(this.#clock, rule.delayMs ?? 0, call.signal)
        return call.work()
      case 'hang':
        return orAborted(new Promise<never>(() => undefined), call.signal)
      case 'lose-reply':
        await call.work()
        throw faultError(rule)
      case 'drop-output':
        return (call.workWithoutOutput ?? call.work)()
    }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw new InvalidInputError('INVALID_CONFIGURATION', 'The fault plan is not valid JSON.', { cause })
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
