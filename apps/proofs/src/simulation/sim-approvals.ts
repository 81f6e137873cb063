import type { HoldfastStores, InterruptRecord } from '@holdfast/core'
import { genericInterruptContinuationFromDescriptor, wrapGenericInterruptContinuation } from '@tanstack/ai'
import type { SimWorld } from './sim-world.ts'

/** What a command that needs a person begins with; the step follows. */
export const GUARDED = 'guarded'

type Descriptor = Parameters<typeof genericInterruptContinuationFromDescriptor>[0]

/** What a person sends who answers a pause. */
export interface PauseAnswer {
  interruptId: string
  status: 'resolved'
  payload: { approved: boolean }
  metadata?: Record<string, unknown>
}

/** TanStack's form of the answer to everything that a thread waits for. */
export function answersTo(pauses: readonly InterruptRecord[], approved: boolean): PauseAnswer[] {
  return pauses.map(({ interruptId, payload }) => {
    const continuation = genericInterruptContinuationFromDescriptor(payload as unknown as Descriptor)
    const metadata = continuation && wrapGenericInterruptContinuation(continuation)
    const answer: PauseAnswer = { interruptId, status: 'resolved', payload: { approved } }
    return metadata === undefined ? answer : { ...answer, metadata: metadata as Record<string, unknown> }
  })
}

/** Watches the commands that a person has to approve: each takes effect once at the most, and never before its yes. */
export class SimApprovals {
  readonly #world: SimWorld
  readonly #stores: HoldfastStores
  readonly #threadOf: (step: string) => string | undefined
  readonly #done = new Set<string>()

  constructor(world: SimWorld, stores: HoldfastStores, threadOf: (step: string) => string | undefined) {
    this.#world = world
    this.#stores = stores
    this.#threadOf = threadOf
  }

  /** A sandbox runs a command. */
  async runs(command: string): Promise<void> {
    const [program, step = ''] = command.split(' ')
    if (program !== GUARDED) return
    if (this.#done.has(step)) this.#world.fault(`the guarded step ${step} took effect twice`)
    this.#done.add(step)
    const asked = await this.#stores.interrupts.list(this.#threadOf(step) ?? 'unknown')
    const isApproved = asked.some((pause) => isAbout(pause, command) && isYes(pause))
    if (!isApproved) this.#world.fault(`the guarded step ${step} took effect, and nobody had approved it`)
  }
}

function isAbout({ payload }: InterruptRecord, command: string): boolean {
  return JSON.stringify(payload).includes(JSON.stringify(command))
}

function isYes({ status, response }: InterruptRecord): boolean {
  return status === 'resolved' && Reflect.get(Object(response) as object, 'approved') === true
}
