import { randomUUID } from 'node:crypto'
import { readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { StoreError } from '@holdfast/core'
import { identifyProcess, isAlive } from './process-identity.ts'
import type { ProcessIdentity } from './process-identity.ts'

interface Guard extends ProcessIdentity {
  guardId: string
  /** Processes of another machine or container cannot be looked up. */
  host: string
  /** False while its process still looks whether there are others. */
  isHeld: boolean
}

const GUARD_FILE = /^in-use\.([0-9a-z-]+)\.json$/
/** A sign of life for processes that cannot be looked up from where the next one starts, as in another container. */
const REFRESH_MS = 30_000
const FOREIGN_STALE_MS = 120_000
const LOOK_AGAIN_MS = 10

/**
 * Makes this process the only one that has the directory open; gives what ends that. `STORE_DIRECTORY_IN_USE` names the
 * process that has it. A guard whose process has died is taken over.
 *
 * Every process writes a guard before it looks for others, so of two at least the later one sees the other. It steps back
 * for a guard with a smaller id, and waits for one with a larger id to step back or to be held.
 */
export async function claimDirectory(directory: string): Promise<() => Promise<void>> {
  const self = await identifyProcess(process.pid)
  for (;;) {
    const guard: Guard = { ...self, guardId: randomUUID(), host: hostname(), isHeld: false }
    await writeGuard(directory, guard)
    const outcome = await lookForOthers(directory, guard)
    if (outcome === 'first') {
      await writeGuard(directory, { ...guard, isHeld: true })
      return heldGuard(directory, guard)
    }
    await removeGuard(directory, guard)
    if (outcome !== 'step-back') throw directoryInUse(directory, outcome)
    await delay(LOOK_AGAIN_MS * (1 + Math.random()))
  }
}

/** Guards that are written after the first look will see this one, so only those of the first look matter. */
async function lookForOthers(directory: string, mine: Guard): Promise<'first' | 'step-back' | Guard> {
  const earlier = new Set((await liveGuards(directory)).map(({ guardId }) => guardId))
  earlier.delete(mine.guardId)
  for (;;) {
    const others = (await liveGuards(directory)).filter(({ guardId }) => guardId !== mine.guardId)
    const holder = others.find(({ isHeld }) => isHeld)
    if (holder !== undefined) return holder
    const rivals = others.filter(({ guardId }) => earlier.has(guardId))
    if (rivals.length === 0) return 'first'
    if (rivals.some(({ guardId }) => guardId < mine.guardId)) return 'step-back'
    await delay(LOOK_AGAIN_MS)
  }
}

/** Removes the guards of dead processes on the way. */
async function liveGuards(directory: string): Promise<Guard[]> {
  const guards: Guard[] = []
  for (const name of (await readdir(directory)).filter((each) => GUARD_FILE.test(each))) {
    const path = join(directory, name)
    const guard = await readGuard(path)
    if (guard === undefined) continue
    if (await isLive(path, guard)) guards.push(guard)
    else await rm(path, { force: true })
  }
  return guards
}

/** A process of this host is looked up; one of another host shows by the guard's age that it lives. */
async function isLive(path: string, guard: Guard): Promise<boolean> {
  if (guard.host === hostname()) return isAlive(guard)
  const [entry] = await Promise.allSettled([stat(path)])
  return entry.status === 'fulfilled' && entry.value.mtimeMs > Date.now() - FOREIGN_STALE_MS
}

function heldGuard(directory: string, guard: Guard): () => Promise<void> {
  const refresh = setInterval(() => {
    const now = new Date()
    void Promise.allSettled([utimes(guardPath(directory, guard), now, now)])
  }, REFRESH_MS)
  refresh.unref()
  return async () => {
    clearInterval(refresh)
    await removeGuard(directory, guard)
  }
}

/** Renamed into place, so that nobody reads half of it. */
async function writeGuard(directory: string, guard: Guard): Promise<void> {
  const draft = `${guardPath(directory, guard)}.draft`
  await writeFile(draft, JSON.stringify(guard))
  await rename(draft, guardPath(directory, guard))
}

async function readGuard(path: string): Promise<Guard | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Guard
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

async function removeGuard(directory: string, guard: Guard): Promise<void> {
  await rm(guardPath(directory, guard), { force: true })
}

function guardPath(directory: string, { guardId }: Guard): string {
  return join(directory, `in-use.${guardId}.json`)
}

function directoryInUse(directory: string, { pid, host }: Guard): StoreError {
  const isSelf = pid === process.pid && host === hostname()
  const holder = isSelf ? `This process (${pid})` : `Process ${pid} on ${host}`
  const message = `${holder} has ${directory} open. Stop it, or use PostgreSQL (DATABASE_URL) for several processes.`
  return new StoreError('STORE_DIRECTORY_IN_USE', message, { details: { pid, host } })
}
