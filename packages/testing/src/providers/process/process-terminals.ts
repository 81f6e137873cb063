import { InvalidInputError, ProviderError } from '@holdfast/core'
import type { SandboxTerminal, SandboxTerminalOptions, SandboxTerminals } from '@holdfast/core'
import { ChunkQueue } from '@holdfast/core/provider-kit'
import type { IPty } from '@lydell/node-pty'
import { endFamily } from './end-family.ts'
import { commandMark, MARK_VARIABLE } from './process-mark.ts'

const DEFAULT_SIZE = { cols: 80, rows: 24 }
const KILL_GRACE_MS = 500

export interface ProcessTerminalsOptions {
  instance: string
  baseEnv: Record<string, string>
  workspaceRoot: string
}

/** Terminals on this machine's own pseudo-terminals. */
export class ProcessTerminals implements SandboxTerminals {
  readonly #options: ProcessTerminalsOptions

  constructor(options: ProcessTerminalsOptions) {
    this.#options = options
  }

  async open(options: SandboxTerminalOptions = {}): Promise<SandboxTerminal> {
    const { spawn } = await import('@lydell/node-pty')
    options.signal?.throwIfAborted()
    const mark = commandMark(this.#options.instance)
    const argv = options.command === undefined ? ['-l'] : ['-c', options.command]
    const pty = spawn('/bin/sh', argv, {
      name: 'xterm-256color',
      cols: options.cols ?? DEFAULT_SIZE.cols,
      rows: options.rows ?? DEFAULT_SIZE.rows,
      cwd: options.cwd ?? this.#options.workspaceRoot,
      env: { ...this.#options.baseEnv, ...options.env, [MARK_VARIABLE]: mark },
      // Bytes, not text: a character may arrive in two pieces.
      encoding: null,
    })
    return openTerminal(pty, mark, options.signal)
  }
}

function openTerminal(pty: IPty, mark: string, signal: AbortSignal | undefined): SandboxTerminal {
  const output = new ChunkQueue<Uint8Array>()
  let isClosed = false
  let hasExited = false
  const kill = (): Promise<void> => endFamily({ mark }, { signal: 'SIGHUP', graceMs: KILL_GRACE_MS })
  const onAbort = (): void => {
    kill().catch((error: unknown) => output.fail(error))
  }
  pty.onData((data) => {
    // With `encoding: null` the data is a Buffer, whatever the declared type says.
    if (!isClosed) output.push(new Uint8Array(data as unknown as Buffer))
  })
  const exited = new Promise<number | null>((resolve) => {
    pty.onExit(({ exitCode, signal: endedBy }) => {
      hasExited = true
      signal?.removeEventListener('abort', onAbort)
      output.end()
      resolve(endedBy ? 128 + endedBy : exitCode)
    })
  })
  signal?.addEventListener('abort', onAbort, { once: true })
  const assertOpen = (): void => {
    if (isClosed || hasExited) throw new ProviderError('PROCESS_STDIN_CLOSED', 'The terminal is closed.')
  }
  return {
    output,
    exited,
    write: async (data) => {
      assertOpen()
      // Bytes pass unchanged: the socket below takes buffers too.
      pty.write(data as string)
    },
    resize: async ({ cols, rows }) => {
      assertSize(cols)
      assertSize(rows)
      assertOpen()
      pty.resize(cols, rows)
    },
    kill: async () => {
      await kill()
      if (!isClosed) await exited
    },
    close: async () => {
      isClosed = true
      output.end()
    },
  }
}

function assertSize(size: number): void {
  if (Number.isSafeInteger(size) && size > 0) return
  throw new InvalidInputError('INVALID_ARGUMENT', 'cols and rows must be whole numbers, 1 or more.')
}
