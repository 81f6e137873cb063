import { spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { signalGroup } from '../../process-group.ts'
import type { ProcessGroup } from '../../process-group.ts'
import { daemonError } from '../http/wire-error.ts'
import { makePipes, openOutputPipe } from './output-pipe.ts'
import type { Toolbox } from './toolbox.ts'

export interface ExecuteRequest {
  command: string
  cwd?: string
  envs?: Record<string, string>
  /** Whole seconds; none when 0 or left out. */
  timeout?: number
}

export interface ExecuteResult {
  exitCode: number
  result: string
}

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
const MAX_UINT32 = 4_294_967_295
/** Also what a shell that was killed reports: the two cannot be told apart [D190]. */
const NOT_STARTED = -1

export function assertExecuteRequest(body: unknown): asserts body is ExecuteRequest {
  const request = (body ?? {}) as Partial<ExecuteRequest>
  if (typeof request.command !== 'string' || request.command.trim() === '')
    throw daemonError(400, 'command is required', 'INVALID_REQUEST_BODY')
  const { timeout, envs = {} } = request
  if (timeout !== undefined && !(Number.isInteger(timeout) && timeout >= 0 && timeout <= MAX_UINT32))
    throw daemonError(400, 'invalid request body: timeout must be a whole number of seconds', 'INVALID_REQUEST_BODY')
  assertEnvNames(envs)
}

export function assertEnvNames(envs: Record<string, string>): void {
  for (const name of Object.keys(envs)) {
    if (!ENV_NAME.test(name)) throw daemonError(400, `invalid environment variable name: ${JSON.stringify(name)}`)
  }
}

/**
 * Runs the command text as the standard input of a fresh shell, both outputs in one. A caller that goes away does not
 * end it. On a time-out the process group gets SIGKILL, the output is lost and the answer is 408 [D190].
 */
export function executeCommand(toolbox: Toolbox, request: ExecuteRequest): Promise<ExecuteResult> {
  return runProgram(toolbox, { ...request, argv: [toolbox.shell], input: request.command })
}

export interface ProgramRequest extends Omit<ExecuteRequest, 'command'> {
  argv: readonly [string, ...string[]]
  input: string
}

export async function runProgram(toolbox: Toolbox, request: ProgramRequest): Promise<ExecuteResult> {
  const cwd = toolbox.resolvePath(request.cwd ?? '.')
  const fault = directoryFault(cwd)
  if (fault !== undefined) return { exitCode: NOT_STARTED, result: fault }
  const dir = await mkdtemp(join(toolbox.daemonDir, 'exec-'))
  try {
    const outputPath = join(dir, 'out')
    await makePipes(outputPath)
    if (toolbox.closing.aborted) throw toolbox.goneError()
    return await runWithPipe(toolbox, request, cwd, outputPath)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

function runWithPipe(
  toolbox: Toolbox,
  request: ProgramRequest,
  cwd: string,
  outputPath: string,
): Promise<ExecuteResult> {
  return new Promise((resolve, reject) => {
    const output: Buffer[] = []
    const pipe = openOutputPipe(outputPath, (chunk) => output.push(chunk))
    const child = spawn('/bin/sh', ['-c', 'out=$1; shift; exec "$@" >"$out" 2>&1', 'sh', outputPath, ...request.argv], {
      cwd,
      env: toolbox.env(request.envs),
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    const group = toolbox.trackGroup(child.pid)
    const stopTimer = killAfter(group, request.timeout ?? 0, () => {
      reject(daemonError(408, 'command execution timeout', 'PROCESS_EXECUTION_TIMEOUT'))
    })
    const onGone = (): void => reject(toolbox.goneError())
    toolbox.closing.addEventListener('abort', onGone, { once: true })
    // A shell that ends before it has read all of its script closes the pipe.
    child.stdin.on('error', () => child.stdin.destroy())
    child.stdin.end(request.input)
    child.once('error', (error) => {
      pipe.closeWriter()
      resolve({ exitCode: NOT_STARTED, result: error.message })
    })
    child.once('exit', (code) => {
      // A child in the background may still hold the output, and with it the answer.
      pipe.closeWriter()
      void pipe.ended.then(() => {
        stopTimer()
        toolbox.closing.removeEventListener('abort', onGone)
        toolbox.untrackGroup(group)
        resolve({ exitCode: code ?? NOT_STARTED, result: Buffer.concat(output).toString('utf8') })
      })
    })
  })
}

function killAfter(group: ProcessGroup | undefined, seconds: number, onTimeout: () => void): () => void {
  if (seconds === 0 || group === undefined) return () => undefined
  const timer = setTimeout(() => {
    signalGroup(group, 'SIGKILL')
    onTimeout()
  }, seconds * 1_000)
  timer.unref()
  return () => clearTimeout(timer)
}

function directoryFault(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) return `chdir ${path}: no such file or directory`
  return stat.isDirectory() ? undefined : `chdir ${path}: not a directory`
}
