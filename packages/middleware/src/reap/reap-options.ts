import { assertMs, assertPageSize, systemClock } from '@holdfast/core'
import type { Clock, HoldfastStores } from '@holdfast/core'
import type { SandboxDefinition } from '../definition/sandbox-definition.ts'
import type { RunDriver } from '../runs/run-driver.ts'

/** What a reap works on, and its limits. */
export interface ReapRunsInput {
  stores: HoldfastStores
  /** Destroys what is to be reclaimed. Without it sandboxes are only marked, for a reaper that has one. */
  sandbox?: SandboxDefinition
  /** Continues runs whose host died. Without one they are settled. */
  driver?: RunDriver
  /** A run that nobody has watched for this long is ended, its sandbox destroyed. */
  detachedTtlMs: number
  /** How long past its lease a host is left in peace. Default 0: the lease is the grace. */
  graceMs?: number
  /** A run older than this is ended, watched or not. No limit when left out. */
  maxRunMs?: number
  /** Most runs, and most sandboxes, that one reap works on. Default 25. */
  limit?: number
  clock?: Clock
}

export type ReapConfig = ReapRunsInput & Required<Pick<ReapRunsInput, 'graceMs' | 'limit' | 'clock'>>

const DEFAULT_LIMIT = 25

/** A run that nobody has watched for an hour is ended, where the app does not say otherwise. */
export const DEFAULT_MAX_DETACHED_MS = 60 * 60_000

/** The checked options. `INVALID_ARGUMENT` for what is out of range. */
export function reapConfig(input: ReapRunsInput): ReapConfig {
  assertMs('detachedTtlMs', input.detachedTtlMs)
  if (input.maxRunMs !== undefined) assertMs('maxRunMs', input.maxRunMs)
  return {
    ...input,
    graceMs: assertMs('graceMs', input.graceMs ?? 0),
    limit: assertPageSize(input.limit, DEFAULT_LIMIT),
    clock: input.clock ?? systemClock,
  }
}
