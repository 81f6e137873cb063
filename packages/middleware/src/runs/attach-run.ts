import { assertId, InvalidInputError, isTerminalRunStatus, NotFoundError, systemClock } from '@holdfast/core'
import type { Clock, HoldfastStores } from '@holdfast/core'
import { resolveResumeRunId } from '@tanstack/ai'
import { eventStreamResponse } from './event-stream-response.ts'
import type { EventStreamOptions } from './event-stream-response.ts'
import type { RunDriver } from './run-driver.ts'
import { Viewer } from './viewer.ts'
import { watchDriver } from './watch-driver.ts'

/** Which run a viewer wants, and from where. */
export interface AttachRunInput extends EventStreamOptions {
  stores: HoldfastStores
  /** Names the run in `X-Run-Id` or `?runId=`, and the position in `Last-Event-ID` or `?offset=`. */
  request: Request
  /** Beats what the request names. */
  runId?: string
  offset?: string
  /** Continues a run whose host has died. Without one such a run is settled, so that the stream ends. */
  driver?: RunDriver
  clock?: Clock
}

/**
 * Replays a run's events strictly after the position the request names, then tails them, from whichever host drives it.
 * A run whose host has died, now or later, is continued here or settled. `RUN_NOT_FOUND`, `INVALID_OFFSET`, `INVALID_ID`;
 * `INVALID_ARGUMENT` when no position is named.
 */
export async function attachRun(input: AttachRunInput): Promise<Response> {
  const { stores, clock = systemClock, headers, keepAliveMs, driver } = input
  const runId = assertId('runId', input.runId ?? resolveResumeRunId(input.request))
  const offset = input.offset ?? offsetOf(input.request)
  const record = await stores.runs.get(runId)
  if (record === null) throw new NotFoundError('RUN_NOT_FOUND', `No run ${runId}.`, { details: { runId } })
  const log = stores.eventLog.open({ runId, offset })
  await assertReadable(log, offset, clock)
  const hasEnded = isTerminalRunStatus(record.status)
  const viewer = hasEnded ? undefined : new Viewer({ stores, runId, clock }).watch({ now: true })
  const stopWatching = hasEnded ? undefined : watchDriver({ stores, runId, clock, driver })
  return eventStreamResponse(log, {
    clock,
    ...(headers === undefined ? {} : { headers }),
    ...(keepAliveMs === undefined ? {} : { keepAliveMs }),
    onViewerLeft: () => {
      stopWatching?.()
      void viewer?.leave()
    },
    // A run that paused has no end of its own for which they could wait.
    onEnd: () => {
      stopWatching?.()
      viewer?.stop()
    },
  })
}

function offsetOf(request: Request): string {
  const offset = request.headers.get('Last-Event-ID') ?? new URL(request.url).searchParams.get('offset')
  if (offset === null || offset === '') {
    throw new InvalidInputError('INVALID_ARGUMENT', 'Name a position with Last-Event-ID or ?offset=.')
  }
  return offset
}

/** A bad offset shows at the first read; a good one may have nothing to give yet, which is what the short wait is for. */
const OFFSET_CHECK_MS = 100

async function assertReadable(
  log: ReturnType<HoldfastStores['eventLog']['open']>,
  offset: string,
  clock: Clock,
): Promise<void> {
  if (offset === '-1' || offset === 'now') return
  const end = new AbortController()
  const iterator = log.read(offset as never, end.signal)[Symbol.asyncIterator]()
  let cancelTimer = (): void => undefined
  const waited = new Promise<void>((resolve) => {
    cancelTimer = clock.schedule(OFFSET_CHECK_MS, resolve)
  })
  try {
    await Promise.race([iterator.next(), waited])
  } finally {
    cancelTimer()
    end.abort()
    // A reader that has given an event hears of an abort only when it is asked again.
    void iterator.return?.().catch(() => undefined)
  }
}
