import type { SandboxExecOptions, SandboxExecResult, SandboxHandle } from '@holdfast/core'
import { shellQuote } from '@holdfast/core/provider-kit'
import type { ProviderMutant } from './provider-mutant.ts'

/** Longer timeouts are left to the good provider, which refuses what no timer can hold. */
const MAX_MS = 60_000

type Exec = (command: string, options?: SandboxExecOptions) => Promise<SandboxExecResult>

/** Breaks `exec`, given the right one. */
function withExec(change: (exec: Exec, sandbox: SandboxHandle) => Exec): NonNullable<ProviderMutant['handle']> {
  return (good) => ({ process: { ...good.process, exec: change(good.process.exec, good) } })
}

/** What a decoder per piece makes of text. */
function decodedInPieces(text: string, pieceBytes: number): string[] {
  const bytes = new TextEncoder().encode(text)
  const pieces: string[] = []
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    pieces.push(new TextDecoder().decode(bytes.subarray(at, at + pieceBytes)))
  }
  return pieces
}

async function* piecesOf(output: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  for await (const text of output) yield* decodedInPieces(text, 1_000)
}

/** Providers whose `exec` or variables are wrong. */
export const EXEC_MUTANTS: readonly ProviderMutant[] = [
  {
    name: 'an exit code is invented',
    base: 'memory',
    handle: withExec((exec) => async (command, options) => ({ ...(await exec(command, options)), exitCode: 0 })),
    among: ['exec.result', 'exec.exit', 'exec.syntax', 'exec.stdin.unread', 'exec.limit.', 'exec.timeout.'],
    detectedBy: [
      'exec.exit-codes',
      'exec.exit-in-script',
      'exec.limit.drops',
      'exec.limit.none-kept',
      'exec.result',
      'exec.stdin.unread',
      'exec.syntax-error',
      'exec.timeout.in-time',
      'exec.timeout.result',
    ],
  },
  {
    name: 'stderr is merged into stdout',
    base: 'memory',
    handle: withExec((exec) => async (command, options) => {
      const result = await exec(command, options)
      return { ...result, stdout: result.stdout + result.stderr, stderr: '' }
    }),
    among: ['exec.result', 'exec.syntax', 'exec.output.', 'exec.limit.', 'env.'],
    detectedBy: [
      'exec.limit.drops',
      'exec.limit.each',
      'exec.output.callbacks',
      'exec.output.large',
      'exec.result',
      'exec.syntax-error',
    ],
  },
  {
    name: 'each piece of output is decoded by itself',
    base: 'memory',
    handle: (good) => ({
      process: {
        exec: async (command, options) => {
          const result = await good.process.exec(command, options)
          return { ...result, stdout: decodedInPieces(result.stdout, 1_000).join('') }
        },
        spawn: async (command, options) => {
          const spawned = await good.process.spawn(command, options)
          return { ...spawned, stdout: piecesOf(spawned.stdout) }
        },
      },
    }),
    among: ['exec.output.', 'exec.stdin.', 'spawn.'],
    detectedBy: ['exec.output.whole-characters', 'spawn.whole-characters'],
  },
  {
    name: 'what exceeds the limit is dropped in silence',
    base: 'memory',
    handle: withExec((exec) => async (command, options) => {
      const { truncated: _truncated, ...result } = await exec(command, options)
      return result
    }),
    among: ['exec.result', 'exec.limit.'],
    detectedBy: ['exec.limit.bytes', 'exec.limit.drops', 'exec.limit.each'],
  },
  {
    name: 'the output limit is ignored',
    base: 'memory',
    handle: withExec(
      (exec) =>
        (command, { maxOutputBytes: _limit, ...options } = {}) =>
          exec(command, options),
    ),
    among: ['exec.result', 'exec.limit.'],
    detectedBy: ['exec.limit.bytes', 'exec.limit.drops', 'exec.limit.each', 'exec.limit.none-kept'],
  },
  {
    name: 'a command without stdin is given some',
    base: 'memory',
    handle: withExec((exec) => (command, options) => exec(command, { stdin: 'left over\n', ...options })),
    among: ['exec.result', 'exec.stdin.'],
    detectedBy: ['exec.stdin.empty'],
  },
  {
    name: 'a timeout returns without ending the command',
    base: 'process',
    handle: withExec((exec) => async (command, options = {}) => {
      const { timeoutMs, ...untimed } = options
      if (timeoutMs === undefined || !(timeoutMs > 0 && timeoutMs < MAX_MS)) return exec(command, options)
      const running = exec(command, untimed)
      running.catch(() => undefined)
      const overrun = new Promise<SandboxExecResult>((resolve) => {
        setTimeout(() => resolve({ stdout: '', stderr: '', exitCode: 124, timedOut: true }), timeoutMs).unref()
      })
      return Promise.race([running, overrun])
    }),
    among: ['exec.timeout.'],
    detectedBy: [
      'exec.timeout.ends-the-command',
      'exec.timeout.ends-the-tree',
      'exec.timeout.partial-output',
      'exec.timeout.stubborn',
    ],
  },
  {
    name: 'an abort rejects without ending the command',
    base: 'process',
    handle: withExec((exec) => (command, options = {}) => {
      const { signal, ...unstoppable } = options
      if (signal === undefined || signal.aborted) return exec(command, options)
      const running = exec(command, unstoppable)
      return new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error))
        running.then(resolve, reject)
      })
    }),
    among: ['exec.abort.'],
    detectedBy: ['exec.abort.during', 'exec.abort.ends-the-tree'],
  },
  {
    name: 'exec waits for background children',
    base: 'process',
    handle: withExec((exec) => (command, options) => exec(`${command}\ncode=$?; wait; exit $code`, options)),
    hangs: true,
    among: ['exec.background', 'exec.open-end', 'exec.result'],
    detectedBy: ['exec.background-child'],
  },
  {
    name: 'variables stand on the command line',
    base: 'process',
    handle: withExec((exec) => (command, options = {}) => {
      const { env = {}, ...rest } = options
      const isPlain = Object.entries(env).every(
        ([name, value]) => /^[A-Z]+$/.test(name) && !String(value).includes('\0'),
      )
      if (!isPlain || Object.values(env).some((value) => typeof value !== 'string')) return exec(command, options)
      const words = Object.entries(env).map(([name, value]) => `export ${name}=${shellQuote(value)}; `)
      return exec(`${words.join('')}${command}`, rest)
    }),
    among: ['env.'],
    detectedBy: ['env.option.not-on-command-lines'],
  },
  {
    name: 'a variable of one command stays',
    base: 'memory',
    handle: withExec((exec, sandbox) => async (command, { env, ...options } = {}) => {
      if (env !== undefined) await sandbox.env.set(env)
      return exec(command, options)
    }),
    among: ['env.'],
    detectedBy: ['env.option.once'],
  },
]
