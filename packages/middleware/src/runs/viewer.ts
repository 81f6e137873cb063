import { isHoldfastError, isTerminalRunStatus } from '@holdfast/core'
import type { Clock, HoldfastStores } from '@holdfast/core'
import { DRIVER_LEASE_MS } from './heartbeat.ts'
import { warnOf } from '../secrets/warn-of.ts'

export interface ViewerInput {
  stores: HoldfastStores
  runId: string
  clock: Clock
}

/** `undefined` clears the field; TanStack's type of the patch cannot say so under exact optional properties. */
const ATTACHED = { detachedSince: undefined } as unknown as Parameters<HoldfastStores['runs']['update']>[1]

/**
 * Somebody who watches a run from this process. As long as one does, anywhere, the run does not count as detached for
 * longer than a lease: another viewer who leaves, or a host that takes the run over, cannot know of this one.
 */
export class Viewer {
  readonly #input: ViewerInput
  #cancelTimer: (() => void) | undefined
  #isGone = false

  constructor(input: ViewerInput) {
    this.#input = input
  }

  /** Begins to watch. `now` looks at once, for a run that may have been left before. */
  watch({ now }: { now: boolean }): this {
    if (now) void this.#look()
    else this.#schedule()
    return this
  }

  /** The run ended, or somebody else notes that this viewer left. Repeatable. */
  stop(): void {
    this.#isGone = true
    this.#cancelTimer?.()
  }

  /** Leaves: as far as this one knows nobody watches any more. Never rejects. */
  async leave(): Promise<void> {
    const { stores, runId, clock } = this.#input
    this.stop()
    try {
      const record = await stores.runs.get(runId)
      if (record?.status !== 'running' || record.detachedSince !== undefined) return
      await stores.runs.update(runId, { detachedSince: clock.now() })
    } catch (error) {
      reportUnlessAway(error)
    }
  }

  #schedule(): void {
    if (!this.#isGone) this.#cancelTimer = this.#input.clock.schedule(DRIVER_LEASE_MS, () => void this.#look())
  }

  async #look(): Promise<void> {
    const { stores, runId } = this.#input
    try {
      const record = await stores.runs.get(runId)
      if (this.#isGone || (record !== null && isTerminalRunStatus(record.status))) return
      if (record?.detachedSince !== undefined) await stores.runs.update(runId, ATTACHED)
    } catch (error) {
      reportUnlessAway(error)
    }
    this.#schedule()
  }
}

/** A store that is away for a while loses a note, not the run. */
function reportUnlessAway(error: unknown): void {
  if (!isHoldfastError(error)) warnOf(error)
}
