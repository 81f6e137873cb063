import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { isReused, signalGroup, signalProcess } from '../../process-group.ts'
import type { ProcessGroup } from '../../process-group.ts'
import { daemonError } from '../http/wire-error.ts'
import { descendantsOf, listProcesses } from './process-table.ts'
import { SessionCommand } from './session-command.ts'
import type { Toolbox } from './toolbox.ts'

const CHECK_EVERY_MS = 100

export interface SessionCommandRequest {
  command: string
  isAsync: boolean
  suppressInputEcho: boolean
}

export function sessionEndedError(): Error {
  return daemonError(410, 'session has ended', 'SESSION_ENDED')
}

/**
 * One long-lived shell whose standard input is the feed of commands: they run in sequence and share its state. A
 * top-level `exit` ends it; the session stays, its later commands never run [M].
 */
export class ShellSession {
  readonly sessionId: string
  readonly commands: SessionCommand[] = []
  readonly #toolbox: Toolbox
  readonly #dir: string
  readonly #shell: ChildProcess
  readonly #group: ProcessGroup | undefined
  readonly #feed: Writable
  readonly #waiting: SessionCommand[] = []
  readonly #ending = new AbortController()
  readonly #exited = new AbortController()
  /** Commands are fed in the order they were asked for. */
  #fed: Promise<void> = Promise.resolve()

  constructor(sessionId: string, toolbox: Toolbox) {
    this.sessionId = sessionId
    this.#toolbox = toolbox
    this.#dir = join(toolbox.daemonDir, 'sessions', randomUUID())
    this.#shell = spawn(toolbox.shell, [], {
      cwd: toolbox.workDir,
      env: toolbox.env(),
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    })
    this.#group = toolbox.trackGroup(this.#shell.pid)
    this.#feed = this.#shell.stdin as Writable
    this.#feed.on('error', () => this.#onExit())
    this.#shell.once('error', () => this.#onExit())
    this.#shell.once('exit', () => this.#onExit())
    this.#readCodes(this.#shell.stdio[3] as Readable)
  }

  get hasExited(): boolean {
    return this.#exited.signal.aborted
  }

  /** Aborts when the shell is gone. */
  get exited(): AbortSignal {
    return this.#exited.signal
  }

  /** Aborts when the session is deleted, which ends its log streams. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  find(commandId: string): SessionCommand | undefined {
    return this.commands.find((command) => command.commandId === commandId)
  }

  async run(request: SessionCommandRequest): Promise<SessionCommand> {
    const commandId = randomUUID()
    const command = new SessionCommand({
      commandId,
      command: request.command,
      isAsync: request.isAsync,
      echoesInput: !request.suppressInputEcho,
      dir: join(this.#dir, commandId),
    })
    this.commands.push(command)
    this.#fed = this.#fed.then(() => this.#feedCommand(command))
    await this.#fed
    return command
  }

  /**
   * SIGTERM to the group and the tree, SIGKILL to the group when the shell has no children any more or after the grace.
   * Who left the group and was taken over by init survives [D190].
   */
  async end(): Promise<void> {
    const group = this.#group
    if (group !== undefined && !isReused(group)) {
      const tree = descendantsOf(group.id, await listProcesses())
      signalGroup(group, 'SIGTERM')
      for (const pid of tree) signalProcess(pid, 'SIGTERM')
      await this.#childrenGone(group.id)
      signalGroup(group, 'SIGKILL')
    }
    this.#toolbox.untrackGroup(group)
    this.close()
  }

  /** Lets go of files and followers. The processes are ended by the caller. */
  close(): void {
    this.#ending.abort()
    for (const command of this.commands) command.remove()
  }

  async #feedCommand(command: SessionCommand): Promise<void> {
    const line = await command.prepare().catch((error: unknown) => {
      // The directory went away with the session.
      throw this.ending.aborted ? sessionEndedError() : error
    })
    if (this.hasExited) return
    this.#waiting.push(command)
    if (this.#waiting.length === 1) command.markStarted()
    this.#feed.write(line)
  }

  async #childrenGone(shellPid: number): Promise<void> {
    const deadline = performance.now() + this.#toolbox.knobs.sessionGraceMs
    while (performance.now() < deadline) {
      if (descendantsOf(shellPid, await listProcesses()).length === 0) return
      await new Promise((resolve) => setTimeout(resolve, CHECK_EVERY_MS))
    }
  }

  #readCodes(codes: Readable): void {
    let text = ''
    codes.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const lines = text.split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) this.#onCode(Number(line))
    })
    codes.on('error', () => codes.destroy())
  }

  #onCode(exitCode: number): void {
    const command = this.#waiting.shift()
    this.#waiting[0]?.markStarted()
    void command?.complete(exitCode)
  }

  #onExit(): void {
    if (this.hasExited) return
    this.#exited.abort()
    for (const command of this.#waiting.splice(0)) void command.abandon()
  }
}
