import { randomUUID } from 'node:crypto'
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { StoreError } from '@holdfast/core'
import { identifyProcess, isAlive } from './process-identity.ts'
import type { ProcessIdentity } from './process-identity.ts'

interface Guard extends ProcessIdentity {
  /** Processes of another machine or container cannot be looked up. */
  host: string
  /** One guard per opening: the same process cannot open a directory twice either. */
  guardId: string
}

const GUARD_FILE = 'in-use.json'
const MAX_TRIES = 10

/**
 * Makes this process the only one that has the directory open; gives what ends that. `STORE_DIRECTORY_IN_USE` names the
 * process that has it. A guard whose process has died is taken over.
 */
export async function claimDirectory(directory: string): Promise<() => Promise<void>> {
  const path = join(directory, GUARD_FILE)
  const guard: Guard = { ...(await identifyProcess(process.pid)), host: hostname(), guardId: randomUUID() }
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    if (await placeGuard(path, guard)) return () => removeGuard(path, guard)
    const found = await readGuard(path)
    if (found === undefined) continue
    if (await isHeld(found)) throw directoryInUse(directory, found)
    await removeStaleGuard(path, found)
  }
  throw new StoreError('STORE_DIRECTORY_IN_USE', `${directory} changes hands too fast. Try again.`, { retryable: true })
}

/** A link appears whole or not at all, and fails when the name is taken. */
async function placeGuard(path: string, guard: Guard): Promise<boolean> {
  const draft = `${path}.${guard.guardId}`
  await writeFile(draft, JSON.stringify(guard))
  try {
    await link(draft, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

async function readGuard(path: string): Promise<Guard | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Guard
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Another host's process cannot be asked, so it counts as alive. */
async function isHeld(guard: Guard): Promise<boolean> {
  return guard.host !== hostname() || (await isAlive(guard))
}

/** Moves the guard away first: of two processes that found it stale, one gets it, and a fresh one is put back. */
async function removeStaleGuard(path: string, stale: Guard): Promise<void> {
  const aside = `${path}.${randomUUID()}`
  try {
    await rename(path, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  const moved = await readGuard(aside)
  if (moved !== undefined && moved.guardId !== stale.guardId) await placeGuard(path, moved)
  await rm(aside, { force: true })
}

async function removeGuard(path: string, guard: Guard): Promise<void> {
  const found = await readGuard(path)
  if (found?.guardId === guard.guardId) await rm(path, { force: true })
}

function directoryInUse(directory: string, guard: Guard): StoreError {
  const isSelf = guard.pid === process.pid && guard.host === hostname()
  const holder = isSelf ? 'This process' : `Process ${guard.pid} on ${guard.host}`
  const message = `${holder} has ${directory} open. Stop it, or use PostgreSQL (DATABASE_URL) for several processes.`
  return new StoreError('STORE_DIRECTORY_IN_USE', message, { details: { pid: guard.pid, host: guard.host } })
}
