import { bareDaemonError, daemonError } from '../http/wire-error.ts'
import type { SessionCommand } from './session-command.ts'
import { ShellSession } from './shell-session.ts'
import type { Toolbox } from './toolbox.ts'

/** The daemon's own session. It runs no commands and is listed nowhere. */
export const ENTRYPOINT = 'entrypoint'

/** Sessions of a running sandbox. They are gone after a stop. */
export class SessionRegistry {
  readonly #toolbox: Toolbox
  readonly #sessions = new Map<string, ShellSession>()

  constructor(toolbox: Toolbox) {
    this.#toolbox = toolbox
  }

  create(sessionId: unknown): ShellSession {
    if (typeof sessionId !== 'string' || sessionId === '') throw daemonError(400, 'sessionId is required')
    if (sessionId === ENTRYPOINT) throw daemonError(400, 'session id "entrypoint" is reserved')
    if (this.#sessions.has(sessionId)) throw daemonError(409, `session already exists: ${sessionId}`)
    const session = new ShellSession(sessionId, this.#toolbox)
    this.#sessions.set(sessionId, session)
    return session
  }

  list(): ShellSession[] {
    return [...this.#sessions.values()]
  }

  open(sessionId: string): ShellSession {
    const session = this.#sessions.get(sessionId)
    if (!session) throw daemonError(404, `session not found: ${sessionId}`, 'PROCESS_NOT_FOUND')
    return session
  }

  openCommand(sessionId: string, commandId: string): SessionCommand {
    const command = this.open(sessionId).find(commandId)
    if (!command) throw daemonError(404, `command not found: ${commandId}`, 'PROCESS_NOT_FOUND')
    return command
  }

  async delete(sessionId: string): Promise<void> {
    const session = this.open(sessionId)
    this.#sessions.delete(sessionId)
    await session.end()
  }

  assertCommand(command: unknown): asserts command is string {
    if (typeof command !== 'string' || command.trim() === '')
      throw bareDaemonError(400, 'command is required', 'INVALID_REQUEST_BODY')
  }

  async close(): Promise<void> {
    for (const session of this.#sessions.values()) session.close()
    this.#sessions.clear()
  }
}
