import type { Dirent } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock, SandboxFileWatch, SandboxFileWatchEvent } from '@holdfast/core'
import { isAbsence } from './file-error.ts'

const MIN_PAUSE_MS = 100
/** A scan may take at most a tenth of the time. */
const PAUSE_PER_SCAN = 9

type Fingerprints = Map<string, string>

/**
 * Watches directories by comparing scans. Slower than the system's own notices, but those lose events below directories
 * that were made a moment ago, and a lost event is worse here than a late one.
 */
export class TreeWatcher {
  readonly #clock: Clock
  readonly #stops = new Set<() => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async watch(root: string, onEvent: (event: SandboxFileWatchEvent) => void): Promise<SandboxFileWatch> {
    let known = await scanTree(root)
    let isStopped = false
    let cancelPause: () => void = () => undefined
    const stop = (): void => {
      isStopped = true
      cancelPause()
      this.#stops.delete(stop)
    }
    const look = async (): Promise<void> => {
      const startedAt = this.#clock.monotonic()
      const current = await scanTree(root)
      if (isStopped) return
      const events = compare(known, current)
      known = current
      pause(this.#clock.monotonic() - startedAt)
      for (const event of events) onEvent(event)
    }
    const pause = (scanMs: number): void => {
      cancelPause = this.#clock.schedule(Math.max(MIN_PAUSE_MS, scanMs * PAUSE_PER_SCAN), () => {
        // A directory that cannot be read now is looked at again later: no event is invented from it.
        look().catch(() => (isStopped ? undefined : pause(MIN_PAUSE_MS)))
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

function compare(before: Fingerprints, after: Fingerprints): SandboxFileWatchEvent[] {
  const events: SandboxFileWatchEvent[] = []
  for (const [path, print] of after) {
    const earlier = before.get(path)
    if (earlier === undefined) events.push({ type: 'create', path })
    else if (earlier !== print) events.push({ type: 'change', path })
  }
  for (const path of before.keys()) if (!after.has(path)) events.push({ type: 'delete', path })
  return events
}

async function scanTree(root: string): Promise<Fingerprints> {
  const prints: Fingerprints = new Map()
  const pending = [root]
  for (let dir = pending.pop(); dir !== undefined; dir = pending.pop()) {
    for (const entry of await entriesOf(dir)) {
      const path = join(dir, entry.name)
      const print = await fingerprint(path)
      if (print === undefined) continue
      prints.set(path, print)
      if (entry.isDirectory()) pending.push(path)
    }
  }
  return prints
}

async function entriesOf(dir: string): Promise<Dirent[]> {
  return readdir(dir, { withFileTypes: true }).catch((error: unknown) => {
    if (isAbsence(error)) return []
    throw error
  })
}

/** A directory's own times are left out: they change with its entries, which have events of their own. */
async function fingerprint(path: string): Promise<string | undefined> {
  const stat = await lstat(path, { bigint: true }).catch((error: unknown) => {
    if (isAbsence(error)) return undefined
    throw error
  })
  if (stat === undefined) return undefined
  if (stat.isDirectory()) return `dir ${stat.mode} ${stat.ino}`
  return `${stat.mode} ${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`
}
