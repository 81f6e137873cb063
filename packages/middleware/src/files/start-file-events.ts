import { systemClock } from '@holdfast/core'
import type { Clock, SandboxFileWatch } from '@holdfast/core'
import type { StreamChunk } from '@tanstack/ai'
import type { DefinitionLogger } from '../definition/definition-logger.ts'
import { FileEventPump } from './file-event-pump.ts'
import type { FileEventPumpInput } from './file-event-pump.ts'
import { listTree } from './file-listing.ts'
import { findGitBaseline } from './git-baseline.ts'
import { LookSchedule } from './look-schedule.ts'

export type { SandboxFileDiff } from './file-event-pump.ts'

export interface FileEventsInput extends Omit<FileEventPumpInput, 'clock' | 'logger'> {
  clock?: Clock
  logger?: DefinitionLogger
}

/** File events of one run. */
export interface FileEvents {
  /** Looks sooner after a tool has worked, where the provider cannot tell of changes by itself. */
  noticeChunk: (chunk: StreamChunk) => void
  /** Tells everything that has changed up to now, its diffs and hooks included. Never rejects. */
  drain: () => Promise<void>
  /** Ends the watching and waits for what is under way. Never rejects: a failure is logged. Repeatable. */
  stop: () => Promise<void>
}

const TOOL_CHUNKS: ReadonlySet<string> = new Set(['TOOL_CALL_RESULT', 'TOOL_CALL_END'])

/**
 * Tells which files of the workspace are created, changed and deleted from now on, `.git`, `node_modules` and `.holdfast`
 * left out. Resolves once the first listing is done. A workspace that cannot be listed gives no events and a warning; it
 * never fails a run.
 */
export async function startFileEvents(input: FileEventsInput): Promise<FileEvents> {
  const { handle, root, clock = systemClock, logger = console } = input
  const baseline = findGitBaseline(handle, root, logger)
  const pump = await listTree(handle, root).then(
    async (listing) => new FileEventPump({ ...input, clock, logger }, listing, await baseline),
    (error: unknown) => {
      logger.warn('Files of the sandbox cannot be watched; the run has no file events.', error)
      return undefined
    },
  )
  await baseline
  if (pump === undefined)
    return { noticeChunk: () => undefined, drain: async () => undefined, stop: async () => undefined }
  const schedule = new LookSchedule(clock, () => pump.look())
  const watch = await startWatch(input, schedule, logger)
  if (watch === undefined) schedule.poll()
  return {
    noticeChunk: (chunk) => {
      if (watch === undefined && TOOL_CHUNKS.has(chunk.type)) schedule.soon()
    },
    drain: () => pump.look(),
    async stop() {
      schedule.stop()
      try {
        await watch?.stop()
      } catch (error) {
        logger.warn('The file watcher of the sandbox could not be stopped.', error)
      }
      await schedule.idle()
    },
  }
}

/** The provider's own notices, where it has them. Each asks for a look; what really changed the look finds out. */
async function startWatch(
  { handle, root }: FileEventsInput,
  schedule: LookSchedule,
  logger: DefinitionLogger,
): Promise<SandboxFileWatch | undefined> {
  if (handle.fs.watch === undefined) return undefined
  try {
    return await handle.fs.watch(root, () => schedule.soon())
  } catch (error) {
    logger.warn('The sandbox cannot tell of changed files by itself; they are looked for instead.', error)
    return undefined
  }
}
