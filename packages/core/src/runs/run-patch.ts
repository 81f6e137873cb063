import type { RunRecord, RunStore } from '@tanstack/ai'
import { isRunStatus } from '@tanstack/ai'
import { InvalidInputError } from '../errors/error-classes.ts'
import { encodeExactJson } from '../exact-json.ts'
import { assertId, assertMs } from '../identifier.ts'

/** The fields of a run record that an update may change. */
export type RunPatch = Parameters<RunStore['update']>[1]

type Checks = { readonly [field in keyof RunPatch]-?: (value: unknown) => void }

const CHECKS: Checks = {
  status: assertRunStatus,
  finishedAt: (value) => assertMs('finishedAt', value),
  error: assertRunError,
  usage: (value) => encodeExactJson(value),
  sandboxKey: (value) => assertId('sandboxKey', value),
  detachedSince: (value) => assertMs('detachedSince', value),
  cancelRequested: (value) => assertField('cancelRequested', typeof value === 'boolean', 'a boolean'),
  driverEpoch: (value) =>
    assertField('driverEpoch', Number.isSafeInteger(value) && (value as number) >= 0, 'an integer, 0 or more'),
}

/** The fields of a run record that `update` may change. */
export const RUN_PATCH_FIELDS = Object.keys(CHECKS) as (keyof RunPatch)[]

/** Throws when a given field is malformed. A field that is absent or undefined is not looked at. */
export function assertRunPatch(patch: RunPatch): void {
  for (const field of RUN_PATCH_FIELDS) {
    if (patch[field] !== undefined) CHECKS[field](patch[field])
  }
}

/**
 * `record` with the patch applied, as a new object: an absent field leaves, a field present with undefined clears. A
 * status cannot be cleared.
 */
export function applyRunPatch(record: RunRecord, patch: RunPatch): RunRecord {
  const next: Record<string, unknown> = { ...record }
  for (const field of RUN_PATCH_FIELDS) {
    if (!Object.hasOwn(patch, field)) continue
    if (patch[field] !== undefined) next[field] = patch[field]
    else if (field !== 'status') delete next[field]
  }
  return next as unknown as RunRecord
}

/** Checks a run's status. `INVALID_ARGUMENT`. */
export function assertRunStatus(value: unknown): void {
  assertField('status', isRunStatus(value), 'a run status')
}

/** Checks what a run failed with. `INVALID_ARGUMENT`. */
export function assertRunError(value: unknown): void {
  const { message, code } = (value ?? {}) as { message?: unknown; code?: unknown }
  assertField('error.message', typeof message === 'string', 'a string')
  assertField('error.code', code === undefined || typeof code === 'string', 'a string')
}

function assertField(name: string, holds: boolean, wanted: string): void {
  if (!holds) throw new InvalidInputError('INVALID_ARGUMENT', `${name} must be ${wanted}.`)
}
