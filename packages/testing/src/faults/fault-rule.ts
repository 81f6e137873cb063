import { ERROR_CODES, InvalidInputError } from '@holdfast/core'
import type { ErrorCode } from '@holdfast/core'

/** What can be made to fail. A call of a provider has its name alone, one of a handle's group has the group before it. */
export const FAULT_OPERATIONS = [
  'create',
  'resume',
  'restoreSnapshot',
  'destroy',
  'list',
  'park',
  'probe',
  'exec',
  'spawn',
  'wait',
  'kill',
  'stdin.write',
  'fs.read',
  'fs.write',
  'fs.list',
  'fs.mkdir',
  'fs.remove',
  'fs.rename',
  'fs.exists',
  'fs.lstat',
  'fs.readlink',
  'fs.symlink',
  'fs.chmod',
  'fs.watch',
  'ports.connect',
  'archive.pack',
  'archive.unpack',
  'terminal.open',
  'snapshot',
  'fork',
  'refreshActivity',
] as const

/** A call of a provider or a handle that can be told to fail. */
export type FaultOperation = (typeof FAULT_OPERATIONS)[number]

export const FAULT_ACTIONS = ['fail', 'delay', 'hang', 'lose-reply', 'drop-output'] as const

/**
 * - `fail`: rejects without doing the work.
 * - `delay`: waits `delayMs`, then does the work.
 * - `hang`: does nothing; settles only when the call's signal aborts.
 * - `lose-reply`: does the work, then rejects as if the answer never arrived.
 * - `drop-output`: does the work, but what the command printed is lost. For `exec` and `spawn`.
 */
export type FaultAction = (typeof FAULT_ACTIONS)[number]

/** One planned fault, as plain data. */
export interface FaultRule {
  on: FaultOperation
  do: FaultAction
  /** The first call that it hits, counted from the time the rule was added. Default 1. */
  nth?: number
  /** How many calls in a row it hits. Default 1. */
  times?: number
  /** For `delay`. */
  delayMs?: number
  /** For `fail` and `lose-reply`. Default `PROVIDER_UNAVAILABLE` for calls of the provider, else `SANDBOX_UNREACHABLE`. */
  code?: ErrorCode
  /** Default true. */
  retryable?: boolean
}

/** Returns a copy of the rules; `INVALID_CONFIGURATION` lists everything that is wrong with them. */
export function assertFaultRules(rules: unknown): FaultRule[] {
  if (!Array.isArray(rules)) throw new InvalidInputError('INVALID_CONFIGURATION', 'Fault rules must be an array.')
  const faults = rules.flatMap((rule: unknown, index) => ruleFaults(rule).map((fault) => `rule ${index}: ${fault}`))
  if (faults.length > 0)
    throw new InvalidInputError('INVALID_CONFIGURATION', `${faults.join('; ')}.`, { details: { faults } })
  return (rules as FaultRule[]).map((rule) => ({ ...rule }))
}

const FIELDS = new Set(['on', 'do', 'nth', 'times', 'delayMs', 'code', 'retryable'])

function ruleFaults(rule: unknown): string[] {
  if (typeof rule !== 'object' || rule === null) return ['must be an object']
  const fields = rule as Record<string, unknown>
  const faults = Object.keys(fields).flatMap((name) => (FIELDS.has(name) ? [] : [`has an unknown field "${name}"`]))
  if (!isOneOf(FAULT_OPERATIONS, fields['on'])) faults.push('"on" names no operation')
  if (!isOneOf(FAULT_ACTIONS, fields['do'])) faults.push(`"do" must be one of ${FAULT_ACTIONS.join(', ')}`)
  if (fields['nth'] !== undefined && !isCount(fields['nth'])) faults.push('"nth" must be a whole number, 1 or more')
  if (fields['times'] !== undefined && !isCount(fields['times']))
    faults.push('"times" must be a whole number, 1 or more')
  const needsDelay = fields['do'] === 'delay' || fields['delayMs'] !== undefined
  if (needsDelay && !isDuration(fields['delayMs'])) faults.push('"delayMs" must be a number of milliseconds, 0 or more')
  if (fields['code'] !== undefined && !isErrorCode(fields['code'])) faults.push('"code" is not a Holdfast error code')
  const retryable = fields['retryable']
  if (retryable !== undefined && typeof retryable !== 'boolean') faults.push('"retryable" must be true or false')
  const printsOutput = fields['on'] === 'exec' || fields['on'] === 'spawn'
  if (fields['do'] === 'drop-output' && !printsOutput) faults.push('"drop-output" is for exec and spawn only')
  return faults
}

function isOneOf(allowed: readonly string[], value: unknown): boolean {
  return typeof value === 'string' && allowed.includes(value)
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1
}

function isDuration(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function isErrorCode(value: unknown): boolean {
  return typeof value === 'string' && Object.hasOwn(ERROR_CODES, value)
}
