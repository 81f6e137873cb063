import { assertId } from '@holdfast/core'
import type { Clock, EventLog, HoldfastStores } from '@holdfast/core'
import { resolveResumeRunId } from '@tanstack/ai'
import { LateBoundLog } from './late-bound-log.ts'

/** Which run's log, and where a reader begins. */
export type DurableLogInput = {
  stores: HoldfastStores
  clock?: Clock
} & (
  | {
      /** Names the run in `X-Run-Id` or `?runId=`, and a reader's position in `Last-Event-ID` or `?offset=`. */
      request: Request
    }
  | {
      runId: string
      /** A reader's position; null (default) for a producer. */
      offset?: string | null
    }
)

/** A run's event log that `withSandbox` binds to the epoch under which it claims the run. */
export interface DurableLog extends EventLog {
  /** Where the run is claimed and its record kept. */
  readonly stores: HoldfastStores
}

/**
 * TanStack's `StreamDurability` on Holdfast's stores. Give the same object to `withSandbox` and to the response helper:
 * the run is claimed when the chat is set up, and from then on each append carries the claim's epoch. Before that, and
 * without `withSandbox`, an append is accepted only while nobody has ever claimed the run (`LOG_FENCED`). `INVALID_ID`
 * when the request names no usable run id.
 */
export function durableLog(input: DurableLogInput): DurableLog {
  const { stores, clock } = input
  const { runId, offset } = 'request' in input ? readRequest(input.request) : { offset: null, ...input }
  return new LateBoundLog({ stores, clock, runId: assertId('runId', runId), offset })
}

function readRequest(request: Request): { runId: string | null; offset: string | null } {
  const offset = request.headers.get('Last-Event-ID') ?? new URL(request.url).searchParams.get('offset')
  return { runId: resolveResumeRunId(request), offset: offset === '' ? null : offset }
}
