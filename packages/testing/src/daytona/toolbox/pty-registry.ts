import { daemonError } from '../http/wire-error.ts'
import { PtySession, type PtyInput } from './pty-session.ts'
import type { Toolbox } from './toolbox.ts'

const MAX_SIZE = 1_000

/** Terminals of a running sandbox. An id is free again as soon as its terminal has ended. */
export class PtyRegistry {
  readonly #toolbox: Toolbox
  readonly #ptys = new Map<string, PtySession>()

  constructor(toolbox: Toolbox) {
    this.#toolbox = toolbox
    toolbox.closing.addEventListener('abort', () => this.#terminate(), { once: true })
  }

  async create(input: {
    id: string
    cols: number
    rows: number
    cwd?: string
    envs: Record<string, string>
  }): Promise<PtySession> {
    if (input.id === '') throw daemonError(400, 'id is required')
    if (this.#ptys.has(input.id)) throw daemonError(409, `PTY session with ID ${input.id} already exists`)
    assertPtySize(input)
    const { spawn } = await import('@lydell/node-pty')
    if (this.#toolbox.closing.aborted) throw this.#toolbox.goneError()
    const full: PtyInput = { ...input, cwd: this.#toolbox.resolvePath(input.cwd ?? '.') }
    const pty = new PtySession(full, this.#toolbox, spawn, () => this.#ptys.delete(input.id))
    this.#ptys.set(input.id, pty)
    return pty
  }

  list(): PtySession[] {
    return [...this.#ptys.values()]
  }

  find(id: string): PtySession | undefined {
    return this.#ptys.get(id)
  }

  open(id: string): PtySession {
    const pty = this.#ptys.get(id)
    if (!pty) throw daemonError(404, `PTY session ${id} not found`, 'PROCESS_NOT_FOUND')
    return pty
  }

  #terminate(): void {
    for (const pty of this.#ptys.values()) pty.terminate()
    this.#ptys.clear()
  }
}

export function assertPtySize({ cols, rows }: { cols: unknown; rows: unknown }): void {
  for (const [name, value] of Object.entries({ cols, rows })) {
    if (!Number.isInteger(value) || Number(value) < 1 || Number(value) > MAX_SIZE)
      throw daemonError(400, `${name} must be between 1 and ${MAX_SIZE}`)
  }
}
