import type { SandboxBackendHandle, SandboxExecResult } from '@holdfast/core'
import { ConflictError, OutputCollector, ProviderError } from '@holdfast/core/provider-kit'
import type { TransferFiles } from '../fs/transfer-files.ts'
import type { LiveSandbox } from '../lease/live-sandbox.ts'
import type { RunStdin } from '../script/run-script.ts'
import { CommandRun } from './command-run.ts'
import type { RunEnd } from './command-run.ts'
import { GIT_LIMIT_ADVICE, GIT_NETWORK_LIMIT_MS, isGitNetworkCommand } from './git-limit.ts'

export type ExecOptions = Parameters<SandboxBackendHandle['exec']>[1]

/** As a shell reports a command that ran out of time. */
const TIMED_OUT_EXIT_CODE = 124

/** Longer input goes as a file: a shell is slow at taking it out of a script. */
const MAX_STDIN_IN_SCRIPT = 64 * 1024

/** Runs a command to its end. */
export async function executeCommand(
  live: LiveSandbox,
  transfers: TransferFiles,
  command: string,
  options: ExecOptions,
): Promise<SandboxExecResult> {
  const { stdin, signal } = options
  if (stdin.length <= MAX_STDIN_IN_SCRIPT) return executeWith(stdin, live, command, options)
  const name = await transfers.upload(stdin, signal)
  try {
    return await executeWith({ file: transfers.path(name) }, live, command, options)
  } finally {
    // The command has taken it away, unless it never began.
    transfers.forget(name)
  }
}

async function executeWith(
  stdin: RunStdin,
  live: LiveSandbox,
  command: string,
  options: ExecOptions,
): Promise<SandboxExecResult> {
  const stdout = new OutputCollector({ maxBytes: options.maxOutputBytes, onText: options.onStdout })
  const stderr = new OutputCollector({ maxBytes: options.maxOutputBytes, onText: options.onStderr })
  const run = new CommandRun(live, {
    command,
    cwd: options.cwd,
    env: { ...live.account.options.env, ...options.env },
    stdin,
    isLive: options.onStdout !== undefined || options.onStderr !== undefined,
    maxBytes: options.maxOutputBytes,
    onBytes: (name, bytes) => (name === 'stdout' ? stdout : stderr).push(bytes),
  })
  const limit = timeLimit(command, options.timeoutMs)
  const { end, timedOut } = await runWithStops(live, run, { timeoutMs: limit.timeoutMs, signal: options.signal })
  stdout.end()
  if (timedOut && limit.isGit) stderr.push(new TextEncoder().encode(GIT_LIMIT_ADVICE))
  stderr.end()
  const isTruncated = stdout.truncated || stderr.truncated
  return {
    stdout: stdout.text(),
    stderr: stderr.text(),
    exitCode: timedOut ? TIMED_OUT_EXIT_CODE : exitCodeOf(end, live.id, options.cwd),
    ...(timedOut ? { timedOut: true } : {}),
    ...(isTruncated ? { truncated: true } : {}),
  }
}

function timeLimit(command: string, timeoutMs: number | undefined): { timeoutMs: number | undefined; isGit: boolean } {
  const isCapped = (timeoutMs ?? Number.POSITIVE_INFINITY) > GIT_NETWORK_LIMIT_MS && isGitNetworkCommand(command)
  return isCapped ? { timeoutMs: GIT_NETWORK_LIMIT_MS, isGit: true } : { timeoutMs, isGit: false }
}

/** The exit code of a run, or why there is none. */
export function exitCodeOf(end: RunEnd, sandboxId: string, cwd: string): number {
  if (end.kind === 'exited') return end.exitCode
  const details = { sandboxId }
  if (end.kind === 'not-started') {
    throw new ProviderError('PROCESS_START_FAILED', `The working directory ${cwd} does not exist.`, { details })
  }
  const message =
    end.kind === 'lost'
      ? `What watched over the command in sandbox ${sandboxId} was ended, so its exit code is not known.`
      : `The command in sandbox ${sandboxId} was ended before it began.`
  throw new ProviderError('PROCESS_EXIT_UNKNOWN', message, { details })
}

interface Stops {
  timeoutMs?: number | undefined
  signal?: AbortSignal | undefined
}

/** Runs to the end, the time limit, the abort or the teardown of the sandbox, whichever comes first. */
export async function runWithStops(
  live: LiveSandbox,
  run: CommandRun,
  stops: Stops,
): Promise<{ end: RunEnd; timedOut: boolean }> {
  const { signal, timeoutMs } = stops
  signal?.throwIfAborted()
  let timedOut = false
  let killing: Promise<void> | undefined
  const end = async (): Promise<void> => {
    killing ??= run.kill('KILL', 0)
    await killing
  }
  const onTimeout = (): void => {
    timedOut = true
    end().catch((error: unknown) => run.abandon(error))
  }
  const onAbort = (): void => {
    end()
      .catch(() => undefined)
      .finally(() => run.abandon(signal?.reason))
  }
  const onTeardown = (): void => run.abandon(closedError(live.id))
  const cancelTimer = timeoutMs === undefined ? undefined : live.account.clock.schedule(timeoutMs, onTimeout)
  signal?.addEventListener('abort', onAbort, { once: true })
  live.openThings.add(onTeardown)
  try {
    const ended = await run.run()
    if (killing !== undefined) await killing
    signal?.throwIfAborted()
    return { end: ended, timedOut }
  } catch (error) {
    // An abort is told after the processes are gone.
    if (signal?.aborted === true) await killing?.catch(() => undefined)
    signal?.throwIfAborted()
    throw error
  } finally {
    cancelTimer?.()
    signal?.removeEventListener('abort', onAbort)
    live.openThings.delete(onTeardown)
  }
}

function closedError(sandboxId: string): ConflictError {
  return new ConflictError('SANDBOX_CLOSED', `Sandbox ${sandboxId} was torn down while the command ran.`)
}
