import { EventType } from '@tanstack/ai'
import type { SandboxFileHookEvent, StreamChunk } from '@tanstack/ai'
import { getSandboxRuntime } from '@tanstack/ai/adapter-internals'
import { DEFAULT_WORKSPACE_ROOT } from '../definition/define-workspace.ts'
import { startFileEvents } from '../files/start-file-events.ts'
import type { FileEvents } from '../files/start-file-events.ts'
import { reportSandboxFailure } from './report-sandbox-failure.ts'
import type { SandboxSession } from './sandbox-session.ts'

const FILE_EVENT = 'sandbox.file'
const DIFF_EVENT = 'sandbox.file.diff'

export interface SessionFileEvents extends FileEvents {
  /** Null for a chunk that viewers have seen already. Before the end of a turn, everything that changed is told. */
  onChunk: (chunk: StreamChunk) => Promise<null | undefined>
}

/**
 * Tells viewers and hooks which files change. The engine's own channel for file events calls the middlewares' hooks, but
 * reaches the viewer only with the model's next words; so each event is shown at once on the live channel, and its later
 * copy is dropped.
 */
export async function startSessionFileEvents(
  session: SandboxSession,
  options: { diff: boolean },
): Promise<SessionFileEvents> {
  const { ctx, definition, clock, redactor } = session
  const runtime = getSandboxRuntime(ctx, { optional: true })
  const shown = new Set<string>()
  const copies = new Set<string>()
  const files = await startFileEvents({
    handle: session.handle(),
    root: definition.workspace.root ?? DEFAULT_WORKSPACE_ROOT,
    diff: options.diff,
    hooks: definition.hooks,
    clock,
    logger: { warn: (what, error) => reportSandboxFailure(what, error, redactor) },
    redactor,
    emit(event: SandboxFileHookEvent) {
      const { type, path, timestamp } = event
      ctx.emitCustomEvent(FILE_EVENT, { type, path, timestamp }, { batch: true })
      if (runtime === undefined) return
      shown.add(keyOf({ type, path, timestamp }))
      runtime.emit(event)
    },
    emitDiff: (value) => ctx.emitCustomEvent(DIFF_EVENT, value, { batch: true }),
  })
  return {
    ...files,
    async onChunk(chunk) {
      files.noticeChunk(chunk)
      if (chunk.type === EventType.RUN_FINISHED) await files.drain()
      return dropSecond(shown, copies, chunk)
    },
  }
}

/** Of the two copies of an event the first passes and the second is dropped. */
function dropSecond(shown: Set<string>, copies: Set<string>, chunk: StreamChunk): null | undefined {
  if (chunk.type !== 'CUSTOM' || Reflect.get(chunk, 'name') !== FILE_EVENT) return undefined
  const key = keyOf(Reflect.get(chunk, 'value') as object)
  if (copies.delete(key)) return null
  if (shown.delete(key)) copies.add(key)
  return undefined
}

function keyOf(event: object): string {
  return JSON.stringify([Reflect.get(event, 'type'), Reflect.get(event, 'path'), Reflect.get(event, 'timestamp')])
}
