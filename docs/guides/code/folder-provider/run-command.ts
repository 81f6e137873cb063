import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { open, rm, stat, writeFile } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import { ProviderError } from '@holdfast/core'
import type { SandboxBackendHandle, SandboxExecResult } from '@holdfast/core'
import { OutputCollector } from '@holdfast/core/provider-kit'

type ExecCall = Parameters<SandboxBackendHandle['exec']>

interface CommandPlace {
  folder: string
  /** Gets what ends this command, while it runs. */
  endings: Set<() => void>
}

const TIMED_OUT = 124

/**
 * Runs a command from a file, since an argument may not be longer than 128 KiB. Its outputs are files too: a child that
 * it leaves behind holds nobody up.
 */
export async function runCommand([command, options]: ExecCall, place: CommandPlace): Promise<SandboxExecResult> {
  const { cwd, maxOutputBytes, onStdout, onStderr } = options
  if (!(await isDirectory(cwd))) throw new ProviderError('PROCESS_START_FAILED', `${cwd} is no directory.`)
  const base = join(place.folder, 'staging', randomUUID())
  await writeFile(`${base}.sh`, command)
  const out = await open(`${base}.out`, 'ax+')
  const err = await open(`${base}.err`, 'ax+')
  try {
    const { exitCode, timedOut } = await runScript(`${base}.sh`, options, place, [out.fd, err.fd])
    const stdout = await collect(out, new OutputCollector({ maxBytes: maxOutputBytes, onText: onStdout }))
    const stderr = await collect(err, new OutputCollector({ maxBytes: maxOutputBytes, onText: onStderr }))
    const truncated = stdout.truncated || stderr.truncated
    return {
      stdout: stdout.text(),
      stderr: stderr.text(),
      exitCode,
      ...(timedOut ? { timedOut } : {}),
      ...(truncated ? { truncated } : {}),
    }
  } finally {
    await Promise.all([out.close(), err.close()])
    await Promise.all(['sh', 'out', 'err'].map((kind) => rm(`${base}.${kind}`, { force: true })))
  }
}

/** A process group of its own, which a timeout, an abort or `destroy` ends as a whole. */
async function runScript(
  script: string,
  { cwd, env, stdin, signal, timeoutMs }: ExecCall[1],
  { folder, endings }: CommandPlace,
  [out, err]: [number, number],
) {
  const child = spawn('/bin/sh', [script], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: join(folder, 'home'), ...env },
    detached: true,
    stdio: ['pipe', out, err],
  })
  let timedOut = false
  const endGroup = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
  }
  const onTimeout = () => {
    timedOut = true
    endGroup()
  }
  const timer = timeoutMs === undefined ? undefined : setTimeout(onTimeout, timeoutMs)
  endings.add(endGroup)
  signal?.addEventListener('abort', endGroup)
  try {
    child.stdin?.on('error', () => undefined) // A command need not read its input.
    child.stdin?.end(stdin)
    await once(child, 'exit')
    signal?.throwIfAborted()
    return { exitCode: timedOut ? TIMED_OUT : exitCodeOf(child), timedOut }
  } finally {
    clearTimeout(timer)
    endings.delete(endGroup)
    signal?.removeEventListener('abort', endGroup)
  }
}

function exitCodeOf({ exitCode, signalCode }: ChildProcess): number {
  if (exitCode !== null) return exitCode
  if (signalCode !== null) return 128 + constants.signals[signalCode]
  throw new ProviderError('PROCESS_EXIT_UNKNOWN', 'The command ended without an exit code.')
}

async function collect(file: FileHandle, output: OutputCollector): Promise<OutputCollector> {
  for await (const bytes of file.createReadStream({ start: 0, autoClose: false })) output.push(bytes)
  output.end()
  return output
}

const isDirectory = (path: string) =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
