import { join } from 'node:path/posix'
import type { Clock, SandboxFileWatch, SandboxFileWatchEvent } from '@holdfast/core'
import { isAbsence } from './file-error.ts'
import type { PosixFiles } from './posix-files.ts'

const MIN_PAUSE_MS = 100
/** A scan may take at most a tenth of the time. */
const PAUSE_PER_SCAN = 9

type ChangeKeys = Map<string, string>

export interface TreeWatchInput {
  files: PosixFiles
  root: string
  onEvent: (event: SandboxFileWatchEvent) => void
}

/**
 * Watches directories by comparing scans. Slower than a system's own notices, but those lose events below directories
 * that were made a moment ago, and a lost event is worse here than a late one.
 */
export class TreeWatcher {
  readonly #clock: Clock
  readonly #stops = new Set<() => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves once the first scan is done: changes after that are told. */
  async watch({ files, root, onEvent }: TreeWatchInput): Promise<SandboxFileWatch> {
    let known = await scanTree(files, root)
    let isStopped = false
    let cancelPause: () => void = () => undefined
    const stop = (): void => {
      isStopped = true
      cancelPause()
      this.#stops.delete(stop)
    }
    const look = async (): Promise<void> => {
      const startedAt = this.#clock.monotonic()
      // What cannot be read now is looked at again later: no event is invented from it.
      const current = await scanTree(files, root).catch(() => known)
      if (isStopped) return
      const events = compare(known, current)
      known = current
      pause(this.#clock.monotonic() - startedAt)
      for (const event of events) onEvent(event)
    }
    const pause = (scanMs: number): void => {
      cancelPause = this.#clock.schedule(Math.max(MIN_PAUSE_MS, scanMs * PAUSE_PER_SCAN), () => {
        look().catch(throwUncaught)
      })
    }
    this.#stops.add(stop)
    pause(0)
    return { stop: () => Promise.resolve(stop()) }
  }

  stopAll(): void {
    for (const stop of this.#stops) stop()
  }
}

/** A listener that throws is a fault of the program, as with the system's own watchers. */
function throwUncaught(error: unknown): void {
  queueMicrotask(() => {
    throw error as Error
  })
}

function compare(before: ChangeKeys, after: ChangeKeys): SandboxFileWatchEvent[] {
  const events: SandboxFileWatchEvent[] = []
  for (const [path, key] of after) {
    const earlier = before.get(path)
    if (earlier === undefined) events.push({ type: 'create', path })
    else if (earlier !== key) events.push({ type: 'change', path })
  }
  for (const path of before.keys()) if (!after.has(path)) events.push({ type: 'delete', path })
  return events
}

async function scanTree(files: PosixFiles, root: string): Promise<ChangeKeys> {
  const keys: ChangeKeys = new Map()
  const pending = [root]
  for (let dir = pending.pop(); dir !== undefined; dir = pending.pop()) {
    for (const { name, isDirectory } of (await unlessAbsent(files.readdir(dir))) ?? []) {
      const path = join(dir, name)
      const stat = await unlessAbsent(files.lstat(path))
      if (stat === undefined) continue
      keys.set(path, stat.changeKey)
      if (isDirectory) pending.push(path)
    }
  }
  return keys
}

/** Files come and go during a scan. */
async function unlessAbsent<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}
