import type { SandboxBackendHandle, SandboxSpawnHandle } from '@holdfast/core'
import { ChunkQueue, Utf8TextDecoder } from '@holdfast/core/provider-kit'
import type { LiveSandbox } from '../lease/live-sandbox.ts'
import { CommandRun } from './command-run.ts'
import { exitCodeOf, runWithStops } from './execute-command.ts'
import { StdinFeed } from './stdin-feed.ts'

export type SpawnOptions = Parameters<SandboxBackendHandle['spawn']>[1]

/** How long a killed process may take to end by itself. */
const KILL_GRACE_MS = 2_000

class TextOutput {
  readonly queue = new ChunkQueue<string>()
  readonly #decoder = new Utf8TextDecoder()

  push(bytes: Uint8Array): void {
    this.#deliver(this.#decoder.write(bytes))
  }

  end(): void {
    this.#deliver(this.#decoder.end())
    this.queue.end()
  }

  #deliver(text: string): void {
    if (text !== '') this.queue.push(text)
  }
}

/** Starts a command and resolves when it runs. */
export async function spawnCommand(
  live: LiveSandbox,
  command: string,
  options: SpawnOptions,
): Promise<SandboxSpawnHandle> {
  const outputs = { stdout: new TextOutput(), stderr: new TextOutput() }
  let onStarted: (pid: number) => void = () => undefined
  const started = new Promise<number>((resolve) => {
    onStarted = resolve
  })
  const run = new CommandRun(live, {
    command,
    cwd: options.cwd,
    env: { ...live.account.options.env, ...options.env },
    stdin: 'pipe',
    isLive: true,
    onBytes: (name, bytes) => outputs[name].push(bytes),
    onStarted,
  })
  const exit = runWithStops(live, run, { signal: options.signal }).then(({ end }) =>
    exitCodeOf(end, live.id, options.cwd),
  )
  const stdin = new StdinFeed(live, run)
  const ended = exit.finally(() => {
    stdin.close()
    for (const output of Object.values(outputs)) output.end()
  })
  ended.catch(() => undefined)
  // A process that was gone before anybody saw it has no number.
  const pid = await Promise.race([started, ended.then(() => 0)])
  return {
    pid,
    stdout: outputs.stdout.queue,
    stderr: outputs.stderr.queue,
    stdin: { write: (data) => stdin.write(data), end: () => stdin.end() },
    wait: () => ended,
    kill: async (signal = 'SIGTERM') => {
      await run.kill(typeof signal === 'number' ? String(signal) : signal.replace(/^SIG/, ''), KILL_GRACE_MS)
    },
  }
}
