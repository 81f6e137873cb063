import { InvalidInputError } from '../../errors/error-classes.ts'
import type {
  SandboxExecOptions,
  SandboxExecResult,
  SandboxProcess,
  SandboxProcessOptions,
  SandboxSpawnHandle,
} from '../sandbox-process.ts'
import { guardedCall, guardedIterable } from './guarded-call.ts'
import type { HandleScope } from './handle-scope.ts'
import { OutputCallbacks } from './output-callbacks.ts'

/** Longest delay that a Node timer can hold. */
const MAX_TIMEOUT_MS = 2_147_483_647

/** Commands with arguments checked, directory and variables complete, and failures mapped. */
export function guardedProcess(scope: HandleScope): SandboxProcess {
  return {
    exec: async (command, options = {}) => {
      const callbacks = new OutputCallbacks(options)
      const result = await scope.call('exec', options.signal, () => {
        scope.require('exec')
        return exec(scope, command, { ...options, ...callbacks.methods })
      })
      callbacks.throwIfFailed()
      return result
    },
    spawn: (command, options = {}) =>
      scope.call('spawn', options.signal, async () => {
        scope.require('backgroundProcesses')
        assertCommand(command)
        const handle = await scope.backend.spawn(command, processOptions(scope, options))
        return guardedSpawnHandle(scope, handle, options.signal)
      }),
  }
}

function exec(scope: HandleScope, command: string, options: SandboxExecOptions): Promise<SandboxExecResult> {
  assertCommand(command)
  const { timeoutMs, maxOutputBytes, onStdout, onStderr } = options
  if (timeoutMs !== undefined) assertNumber('timeoutMs', timeoutMs, 1, MAX_TIMEOUT_MS)
  if (maxOutputBytes !== undefined) assertNumber('maxOutputBytes', maxOutputBytes, 0, Number.MAX_SAFE_INTEGER)
  return scope.backend.exec(command, {
    ...processOptions(scope, options),
    ...(onStdout === undefined ? {} : { onStdout }),
    ...(onStderr === undefined ? {} : { onStderr }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(maxOutputBytes === undefined ? {} : { maxOutputBytes }),
    stdin: inputBytes(options.stdin),
  })
}

function processOptions(
  scope: HandleScope,
  options: SandboxProcessOptions,
): SandboxProcessOptions & { cwd: string; env: Record<string, string> } {
  return {
    cwd: scope.path(options.cwd),
    env: scope.env(options.env),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  }
}

function guardedSpawnHandle(
  scope: HandleScope,
  handle: SandboxSpawnHandle,
  signal: AbortSignal | undefined,
): SandboxSpawnHandle {
  const toError = scope.toError('spawn', signal)
  const call = <T>(operation: string, run: () => Promise<T>): Promise<T> =>
    guardedCall(scope.mapError, `spawn.${operation}`, undefined, run)
  return {
    pid: handle.pid,
    stdout: guardedIterable(handle.stdout, toError),
    stderr: guardedIterable(handle.stderr, toError),
    stdin: {
      write: (data) =>
        call('stdin.write', () => {
          scope.require('writableStdin')
          if (typeof data !== 'string') throw new InvalidInputError('INVALID_ARGUMENT', 'stdin takes strings.')
          return handle.stdin.write(data)
        }),
      end: () => call('stdin.end', () => handle.stdin.end()),
    },
    wait: () => handle.wait().catch((error: unknown) => Promise.reject(toError(error))),
    kill: (killSignal) => call('kill', () => handle.kill(killSignal)),
  }
}

function assertCommand(command: unknown): void {
  if (typeof command !== 'string' || command.includes('\0')) {
    throw new InvalidInputError('INVALID_ARGUMENT', 'A command must be a string without NUL characters.')
  }
}

function assertNumber(name: string, value: number, min: number, max: number): void {
  if (typeof value === 'number' && value >= min && value <= max) return
  throw new InvalidInputError('INVALID_ARGUMENT', `${name} must be a number, ${min} … ${max}.`)
}

function inputBytes(stdin: unknown): Uint8Array {
  if (stdin === undefined) return new Uint8Array()
  if (typeof stdin === 'string') return new TextEncoder().encode(stdin)
  if (stdin instanceof Uint8Array) return stdin
  throw new InvalidInputError('INVALID_ARGUMENT', 'stdin must be a string or a Uint8Array.')
}
