import { isHoldfastError, OFFSET_START, systemClock } from '@holdfast/core'
import type { StreamChunk } from '@tanstack/ai'
import { cancelRun } from '../runs/cancel-run.ts'
import { eventStreamResponse } from '../runs/event-stream-response.ts'
import type { Run } from '../runs/run.ts'
import type { StartRunInput } from '../runs/start-run.ts'
import { Viewer } from '../runs/viewer.ts'
import { endQueued } from './end-queued.ts'
import { warnOf } from '../secrets/warn-of.ts'

export interface RespondQueuedInput extends StartRunInput {
  queued: Promise<Run>
  drive: (run: Run) => AsyncIterable<StreamChunk>
}

/**
 * Answers a send that waits: the stream is silent until its turn and then shows the run, whichever host starts it. A
 * viewer who leaves is noted when the run begins, or ends the wait where a run must not outlive its viewer.
 */
export function respondQueued({ queued, drive, ...input }: RespondQueuedInput): Response {
  const { stores, chat, detachOnDisconnect = true, clock = systemClock } = input
  const { runId, threadId } = chat
  const viewer = new Viewer({ stores, runId, clock }).watch({ now: false })
  let begun: Run | undefined
  let hasViewer = true
  const start = async (): Promise<void> => {
    begun = await queued
    if (!hasViewer) begun.viewerLeft()
    await begun.drive(drive(begun))
  }
  start()
    .catch(async (error: unknown) => {
      if (begun !== undefined || !isHoldfastError(error)) throw error
      if (!GONE_ON.has(error.code)) await endQueued({ stores, clock }, { runId, threadId }, error)
    })
    .catch(warnOf)
  const log = stores.eventLog.open({ runId, offset: OFFSET_START })
  const onViewerLeft = (): void => {
    hasViewer = false
    if (begun === undefined) void viewer.leave()
    else viewer.stop()
    begun?.viewerLeft()
    if (begun === undefined && !detachOnDisconnect) cancelRun({ stores, runId, clock }).catch(warnOf)
  }
  return eventStreamResponse(log, { clock, onViewerLeft, onEnd: () => viewer.stop() })
}

/** The run goes on elsewhere, or was ended by whoever took it out of the queue. */
const GONE_ON: ReadonlySet<string> = new Set([
  'DRIVER_HELD',
  'RUN_TERMINAL',
  'RUN_CANCELLED',
  'CANCELLED',
  'STORE_CLOSED',
])
