import { InvalidInputError } from '../errors/error-classes.ts'
import { OFFSET_NOW, OFFSET_START } from './event-log.ts'
import type { EventOffset } from './event-log.ts'

const PREFIX = 'h1'
const SEQUENCE = /^[1-9][0-9]{0,14}$/

/** The offset of the `sequence`-th event of a run, counted from 1. Unique across runs and safe on an SSE line. */
export function formatEventOffset(runId: string, sequence: number): EventOffset {
  return `${runPrefix(runId)}${sequence}` as EventOffset
}

/** The offsets of the last `count` events of a run, of which the newest is number `tail` (from 1). */
export function formatTailOffsets(runId: string, tail: number, count: number): EventOffset[] {
  const prefix = runPrefix(runId)
  const offsets: EventOffset[] = []
  for (let sequence = tail - count + 1; sequence <= tail; sequence += 1) {
    offsets.push(`${prefix}${sequence}` as EventOffset)
  }
  return offsets
}

function runPrefix(runId: string): string {
  return `${PREFIX}:${encodeURIComponent(runId)}:`
}

/**
 * How many events of the run lie at or before `offset`: 0 for `-1`, `tail` for `now`. `INVALID_OFFSET` when it is
 * malformed, of another run, or beyond `tail`, which is the number of events of the run.
 */
export function parseEventOffset(runId: string, offset: string, tail: number): number {
  if (offset === OFFSET_START) return 0
  if (offset === OFFSET_NOW) return tail
  const sequence = sequenceOf(runId, offset)
  if (sequence <= tail) return sequence
  throw invalidOffset(runId, `lies beyond the end of the log, which has ${tail} events`)
}

function sequenceOf(runId: string, offset: unknown): number {
  const [prefix, run, sequence, ...rest] = typeof offset === 'string' ? offset.split(':') : []
  if (prefix !== PREFIX || sequence === undefined || rest.length > 0 || !SEQUENCE.test(sequence)) {
    throw invalidOffset(runId, 'is malformed')
  }
  if (run !== encodeURIComponent(runId)) throw invalidOffset(runId, 'belongs to another run')
  return Number(sequence)
}

function invalidOffset(runId: string, fault: string): InvalidInputError {
  return new InvalidInputError('INVALID_OFFSET', `The event offset ${fault}.`, { details: { runId } })
}
