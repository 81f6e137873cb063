import type { IPty, spawn as spawnPty } from '@lydell/node-pty'
import type { WebSocket } from 'ws'
import { signalGroup } from '../../process-group.ts'
import type { ProcessGroup } from '../../process-group.ts'
import type { Toolbox } from './toolbox.ts'

export const EXIT_CONTROL_PROTOCOL = 'X-Daytona-Pty-Exit-Control'

export interface PtyInput {
  id: string
  cwd: string
  envs: Record<string, string>
  cols: number
  rows: number
}

interface PtyClient {
  readonly socket: WebSocket
  readonly wantsExit: boolean
}

interface PtyEnd {
  exitCode: number
  exitReason?: string
}

const CLOSE_NORMAL = 1000
const CLOSE_ABNORMAL_EXIT = 1011
const CLOSE_TOO_SLOW = 1008
const CHUNK_BYTES = 4_096

/** A terminal. Any number of clients see its output from when they attach; it outlives them all. */
export class PtySession {
  readonly id: string
  readonly createdAt: string
  readonly #input: PtyInput
  readonly #toolbox: Toolbox
  readonly #pty: IPty
  readonly #group: ProcessGroup | undefined
  readonly #clients = new Set<PtyClient>()
  readonly #onEnd: () => void
  #size: { cols: number; rows: number }
  #end: PtyEnd | undefined

  constructor(input: PtyInput, toolbox: Toolbox, spawn: typeof spawnPty, onEnd: () => void) {
    this.id = input.id
    this.createdAt = new Date(toolbox.now()).toISOString()
    this.#input = input
    this.#toolbox = toolbox
    this.#onEnd = onEnd
    this.#size = { cols: input.cols, rows: input.rows }
    this.#pty = spawn(toolbox.shell, ['-i', '-l'], {
      name: input.envs['TERM'] ?? 'xterm-256color',
      cols: input.cols,
      rows: input.rows,
      cwd: input.cwd,
      env: toolbox.env(input.envs),
      encoding: null,
    })
    this.#group = toolbox.trackGroup(this.#pty.pid)
    this.#pty.onData((chunk) => this.#broadcast(chunk as unknown as Buffer))
    this.#pty.onExit(({ exitCode, signal }) => this.#ended(ptyEnd(exitCode, signal ?? 0)))
  }

  info(): Record<string, unknown> {
    const { cwd, envs } = this.#input
    const active = this.#end === undefined
    return { id: this.id, cwd, envs, ...this.#size, createdAt: this.createdAt, active, lazyStart: false }
  }

  attach(socket: WebSocket, wantsExit: boolean): void {
    const client = { socket, wantsExit }
    this.#clients.add(client)
    socket.on('message', (data: Buffer) => {
      if (!this.#end) this.#pty.write(data as unknown as string)
    })
    socket.once('close', () => this.#clients.delete(client))
    socket.send(JSON.stringify({ type: 'control', status: 'connected' }))
  }

  resize(cols: number, rows: number): void {
    this.#size = { cols, rows }
    this.#pty.resize(cols, rows)
  }

  kill(): void {
    if (this.#group !== undefined) signalGroup(this.#group, 'SIGKILL')
  }

  /** The container is gone: nobody sends a close frame. */
  terminate(): void {
    for (const { socket } of this.#clients) socket.terminate()
  }

  #broadcast(bytes: Buffer): void {
    for (const { socket } of this.#clients) {
      if (socket.bufferedAmount > this.#toolbox.knobs.ptyQueueChunks * CHUNK_BYTES) socket.close(CLOSE_TOO_SLOW)
      else if (socket.readyState === socket.OPEN) socket.send(bytes, { binary: true })
    }
  }

  #ended(end: PtyEnd): void {
    this.#end = end
    this.#toolbox.untrackGroup(this.#group)
    this.#onEnd()
    const { daemon, ptyExit } = this.#toolbox.knobs
    for (const { socket, wantsExit } of this.#clients) {
      if (ptyExit === 'cut') {
        socket.terminate()
        continue
      }
      if (wantsExit && ptyExit === 'control' && daemon !== '0.190')
        socket.send(JSON.stringify({ type: 'control', status: 'exited', ...end }))
      socket.close(end.exitCode === 0 ? CLOSE_NORMAL : CLOSE_ABNORMAL_EXIT, JSON.stringify(end))
    }
  }
}

const SIGNAL_REASONS: Record<number, string> = { 2: 'Ctrl+C', 9: 'SIGKILL', 15: 'SIGTERM' }

function ptyEnd(exitCode: number, signal: number): PtyEnd {
  const number = signal > 0 ? signal : exitCode > 128 ? exitCode - 128 : 0
  if (number > 0) return { exitCode: 128 + number, exitReason: SIGNAL_REASONS[number] ?? `signal ${number}` }
  return exitCode === 0 ? { exitCode } : { exitCode, exitReason: 'non-zero exit' }
}
