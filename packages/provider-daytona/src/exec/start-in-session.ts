import { isAmbiguous, statusOf } from '../errors.ts'
import type { LiveSandbox } from '../lease/live-sandbox.ts'
import type { ShellSession } from './session-pool.ts'

/** A command that a session has taken. */
export interface SessionRun {
  readonly session: ShellSession
  readonly commandId: string
}

const MAX_TRIES = 3

/**
 * Gives a script to a session, another one for each attempt (from 1). After a lost reply the session itself is asked
 * whether it has it. Undefined when no session could be had.
 */
export async function startInSession(
  live: LiveSandbox,
  scriptOf: (attempt: number) => string,
  signal: AbortSignal,
): Promise<SessionRun | undefined> {
  for (let attempt = 1; attempt <= MAX_TRIES; attempt += 1) {
    const session = await live.sessions.take(signal)
    const script = scriptOf(attempt)
    try {
      const request = { operation: 'session exec', isRepeatable: false, signal }
      const { cmdId } = await live.request(request, () =>
        live.vendor.process.executeSessionCommand(session.sessionId, {
          command: script,
          runAsync: true,
          suppressInputEcho: true,
        }),
      )
      if (typeof cmdId === 'string' && cmdId !== '') return { session, commandId: cmdId }
    } catch (error) {
      // An idle session that is gone has not taken anything: a fresh one may.
      if ([404, 410].includes(statusOf(error) ?? 0)) continue
      if (!isAmbiguous(error)) throw error
      const commandId = await findCommand(live, session, script, signal)
      if (commandId !== undefined) return { session, commandId }
    }
  }
  return undefined
}

async function findCommand(
  live: LiveSandbox,
  session: ShellSession,
  script: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const request = { operation: 'session read', isRepeatable: true, signal }
  const held = await live
    .request(request, () => live.vendor.process.getSession(session.sessionId))
    .catch(() => undefined)
  signal.throwIfAborted()
  return held?.commands?.find(({ command }) => command === script)?.id
}
