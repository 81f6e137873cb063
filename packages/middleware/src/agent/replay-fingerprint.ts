import { createHash } from 'node:crypto'
import { encodeExactJson } from '@holdfast/core'
import type { StreamChunk } from '@tanstack/ai'

/** Tells the events of one run apart, without showing what they say. */
const DIGEST_LENGTH = 24

/**
 * What of an event must come back the same when its run is replayed: all but the time, nested values included, whatever
 * the order of their fields. It is taken of the JSON that the log keeps, so a field that is explicitly undefined counts
 * for what it becomes there: nothing.
 */
export function replayFingerprint(chunk: StreamChunk): string {
  const { timestamp: _time, ...rest } = JSON.parse(encodeExactJson(chunk)) as Record<string, unknown>
  const digest = createHash('sha256')
    .update(JSON.stringify(ordered(rest)))
    .digest('hex')
  return `${chunk.type}:${digest.slice(0, DIGEST_LENGTH)}`
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, field]): [string, unknown] => [key, ordered(field)])
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
