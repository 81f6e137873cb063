import { systemClock } from '@holdfast/core'
import type { Clock, EventLog } from '@holdfast/core'
import { resumeServerSentEventsResponse } from '@tanstack/ai'
import { BreakableTail } from './breakable-tail.ts'

/** Well under the idle limit of the strictest proxies. */
const DEFAULT_KEEP_ALIVE_MS = 2_500

/** `no-transform` and `X-Accel-Buffering` keep compressing and buffering proxies from holding events back. */
const STREAM_HEADERS = {
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
}

/** Options of a server-sent event response. */
export interface EventStreamOptions {
  headers?: Record<string, string>
  /** A comment is sent after this much silence, so that no proxy takes the stream for dead. Milliseconds. */
  keepAliveMs?: number
}

/** Told once how the stream ended. */
interface StreamEnd {
  /** The viewer left, or was let go because the store failed. */
  onViewerLeft?: (() => void) | undefined
  /** The log is closed and all of it was sent. */
  onEnd?: (() => void) | undefined
}

/** Replays a log strictly after its resume offset, then tails it, as server-sent events with ids. */
export function eventStreamResponse(
  log: EventLog,
  options: EventStreamOptions & StreamEnd & { clock?: Clock },
): Response {
  const { clock = systemClock, keepAliveMs = DEFAULT_KEEP_ALIVE_MS, onViewerLeft, onEnd } = options
  const tail = new BreakableTail(log)
  const response = resumeServerSentEventsResponse({
    adapter: tail.log,
    headers: { ...STREAM_HEADERS, ...options.headers },
  })
  if (response.body === null) return response
  const body = withKeepAlive(response.body, { clock, keepAliveMs, onViewerLeft, onEnd, tail })
  return new Response(body, { status: response.status, headers: response.headers })
}

const COMMENT = new TextEncoder().encode(': keep-alive\n\n')

function withKeepAlive(
  source: ReadableStream<Uint8Array>,
  options: StreamEnd & { clock: Clock; keepAliveMs: number; tail: BreakableTail },
): ReadableStream<Uint8Array> {
  const reader = source.getReader()
  let pending: Promise<{ done: boolean; value?: Uint8Array | undefined }> | undefined
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      pending ??= reader.read()
      const silence = silenceOf(options.clock, options.keepAliveMs)
      const next = await Promise.race([pending, silence.passed]).finally(silence.dispose)
      if (next === 'silent') {
        controller.enqueue(COMMENT)
        return
      }
      pending = undefined
      if (!next.done && next.value !== undefined) controller.enqueue(next.value)
      else if (options.tail.failure === undefined) {
        options.onEnd?.()
        controller.close()
      } else breakOff(controller, options.tail.failure.error, options.onViewerLeft)
    },
    async cancel(reason) {
      options.onViewerLeft?.()
      await reader.cancel(reason)
    },
  })
}

/** The viewer comes back by itself; until then nobody watches. */
function breakOff(
  controller: ReadableStreamDefaultController<Uint8Array>,
  error: unknown,
  onViewerLeft: (() => void) | undefined,
): void {
  onViewerLeft?.()
  controller.error(error)
}

function silenceOf(clock: Clock, ms: number): { passed: Promise<'silent'>; dispose: () => void } {
  let dispose = (): void => undefined
  const passed = new Promise<'silent'>((resolve) => {
    dispose = clock.schedule(ms, () => resolve('silent'))
  })
  return { passed, dispose: () => dispose() }
}
