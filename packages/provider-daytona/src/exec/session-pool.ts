import { isHoldfastError } from '@holdfast/core/provider-kit'
import { statusOf } from '../errors.ts'
import type { LiveSandbox } from '../lease/live-sandbox.ts'
import { newNonce } from '../naming.ts'

/** Sessions kept for the next streamed command. A session runs one command at a time. */
const MAX_IDLE = 2
/** The service keeps a log of every command until its session goes, so a session does not live for ever. */
const MAX_COMMANDS = 50

export interface ShellSession {
  readonly sessionId: string
  commands: number
}

/** The shell sessions of one sandbox. They die with the sandbox's processes, so nothing of them is kept anywhere. */
export class SessionPool {
  readonly #live: LiveSandbox
  readonly #idle: ShellSession[] = []
  readonly #known = new Set<string>()

  constructor(live: LiveSandbox) {
    this.#live = live
  }

  /** An idle session, or a new one. The caller gives it back or discards it. */
  async take(signal?: AbortSignal): Promise<ShellSession> {
    const idle = this.#idle.pop()
    if (idle !== undefined) return idle
    const session = { sessionId: `hf-${newNonce()}`, commands: 0 }
    this.#known.add(session.sessionId)
    await this.#create(session.sessionId, signal)
    return session
  }

  /** A session whose last command has ended. */
  giveBack(session: ShellSession): void {
    session.commands += 1
    if (this.#idle.length < MAX_IDLE && session.commands < MAX_COMMANDS) this.#idle.push(session)
    else this.discard(session)
  }

  /** Ends the session with whatever runs in it, without waiting. */
  discard(session: ShellSession): void {
    this.end(session).catch(() => undefined)
  }

  /** Ends the session with whatever runs in it. One that is gone is fine. */
  async end(session: ShellSession): Promise<void> {
    await this.#live.gate.pass(() => this.#delete(session.sessionId))
  }

  /** Ends every session, also when some cannot be reached. */
  async endAll(): Promise<void> {
    this.#idle.length = 0
    await Promise.allSettled([...this.#known].map((sessionId) => this.#delete(sessionId)))
    this.#known.clear()
  }

  /** After a restart of the sandbox its sessions are gone. */
  forgetAll(): void {
    this.#idle.length = 0
    this.#known.clear()
  }

  async #create(sessionId: string, signal: AbortSignal | undefined): Promise<void> {
    try {
      await this.#live.request({ operation: 'session create', isRepeatable: true, signal }, () =>
        this.#live.vendor.process.createSession(sessionId),
      )
    } catch (error) {
      // The id is ours alone: it exists because an earlier reply was lost.
      if (statusOf(error) !== 409) throw error
    }
  }

  async #delete(sessionId: string): Promise<void> {
    this.#known.delete(sessionId)
    try {
      await this.#live.requestUngated({ operation: 'session delete', isRepeatable: true, attempts: 2 }, () =>
        this.#live.vendor.process.deleteSession(sessionId),
      )
    } catch (error) {
      const isFine = [404, 410].includes(statusOf(error) ?? 0) || isHoldfastError(error, 'SANDBOX_NOT_FOUND')
      if (!isFine) throw error
    }
  }
}
