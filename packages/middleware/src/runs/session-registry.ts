import type { HoldfastStores } from '@holdfast/core'
import type { RunSession } from './run-session.ts'

const REGISTRIES = Symbol.for('@holdfast/middleware/sessions')
const holder = globalThis as { [REGISTRIES]?: WeakMap<HoldfastStores, Map<string, RunSession>> }

/**
 * Which runs this process drives, per set of stores. Weak, so that closed stores take their entries with them. Global,
 * because a bundler may load this module once for each entry, and a shutdown must find the runs of all of them.
 */
const registries = (holder[REGISTRIES] ??= new WeakMap())

function sessionsOf(stores: HoldfastStores): Map<string, RunSession> {
  let sessions = registries.get(stores)
  if (sessions === undefined) registries.set(stores, (sessions = new Map()))
  return sessions
}

/** False, and no change, when this process already drives the run. */
export function registerSession(session: RunSession): boolean {
  const sessions = sessionsOf(session.stores)
  if (sessions.has(session.runId)) return false
  sessions.set(session.runId, session)
  return true
}

export function unregisterSession(session: RunSession): void {
  const sessions = sessionsOf(session.stores)
  if (sessions.get(session.runId) === session) sessions.delete(session.runId)
}

export function findSession(stores: HoldfastStores, runId: string): RunSession | undefined {
  return sessionsOf(stores).get(runId)
}

/** Runs that this process drives right now. */
export function listSessions(stores: HoldfastStores): RunSession[] {
  return [...sessionsOf(stores).values()]
}
