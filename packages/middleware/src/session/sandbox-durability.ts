import { InvalidInputError } from '@holdfast/core'
import type { RunStore } from '@holdfast/core'
import type { DurableLog } from '../runs/durable-log.ts'
import { isLateBoundLog } from '../runs/late-bound-log.ts'
import type { LateBoundLog } from '../runs/late-bound-log.ts'

/** How a run survives its viewer and its host, in TanStack's shape. */
export interface SandboxDurabilityOptions {
  /** From `durableLog`. The response helper gets the same object. */
  adapter: DurableLog
  /** False: a viewer who leaves ends the run. Default true. */
  detachOnDisconnect?: boolean
  /** Not this middleware's: `commandAgent({ journalDir })`. Warned of. */
  journal?: string
  /** Not this middleware's: `commandAgent({ read })` chooses how a journal is read. Warned of. */
  pollIntervalMs?: number
  /** Not this middleware's: the reaper's `detachedTtlMs`. Warned of. */
  detachedRunTtl?: string
  /** Not this middleware's: `attachRun` takes a run over. True is refused. */
  attach?: boolean
}

/** Where TanStack's options are set here. */
const SET_ELSEWHERE = {
  journal: '`commandAgent({ journalDir })`',
  pollIntervalMs: '`commandAgent({ read })`',
  detachedRunTtl: '`reapRuns({ detachedTtlMs })`',
} as const

interface DurabilityInput {
  run?: object | undefined
  runs?: RunStore | undefined
  durability?: SandboxDurabilityOptions | undefined
}

/**
 * The log of a run that is to be claimed when the chat is set up; undefined when durability was not asked for. Half of
 * the pair is warned of and means: not durable. `INVALID_CONFIGURATION` for what contradicts itself, and for an adapter
 * that nothing can be claimed for.
 */
export function durabilityOf({ run, runs, durability }: DurabilityInput): LateBoundLog | undefined {
  if (runs === undefined && durability === undefined) return undefined
  if (run !== undefined) throw invalid('Give withSandbox `run`, or `runs` and `durability`; not both.')
  if (runs === undefined || durability === undefined) {
    warn(`The run is not durable: withSandbox got \`${runs ? 'runs' : 'durability'}\` without its other half.`)
    return undefined
  }
  const { adapter } = durability
  if (!isLateBoundLog(adapter)) {
    throw invalid(
      '`durability.adapter` has no driver store, so that nothing could refuse a host that was superseded. Use durableLog({ stores, request }).',
    )
  }
  if (adapter.stores.runs !== runs) throw invalid('`runs` is not the run store of `durability.adapter`.')
  if (durability.attach === true) throw invalid('`durability.attach` is not used here: attachRun takes a run over.')
  warnOfUnused(durability)
  return adapter
}

function warnOfUnused(durability: SandboxDurabilityOptions): void {
  for (const [option, place] of Object.entries(SET_ELSEWHERE)) {
    if (Reflect.get(durability, option) !== undefined) warn(`\`durability.${option}\` has no effect; set ${place}.`)
  }
}

function warn(message: string): void {
  process.emitWarning(message, { code: 'HOLDFAST_DURABILITY' })
}

function invalid(message: string): InvalidInputError {
  return new InvalidInputError('INVALID_CONFIGURATION', message)
}
