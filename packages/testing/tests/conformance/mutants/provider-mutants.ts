import { isHoldfastError } from '@holdfast/core'
import type {
  SandboxExecOptions,
  SandboxExecResult,
  SandboxFs,
  SandboxHandle,
  SandboxSpawnHandle,
} from '@holdfast/core'
import { shellQuote } from '@holdfast/core/provider-kit'
import type { ProviderMutant } from './provider-mutant.ts'

/** Longer timeouts are left to the good provider, which refuses what no timer can hold. */
const MAX_MS = 60_000

type Exec = (command: string, options?: SandboxExecOptions) => Promise<SandboxExecResult>

/** Breaks `exec`, given the right one. */
function withExec(change: (exec: Exec, sandbox: SandboxHandle) => Exec): NonNullable<ProviderMutant['handle']> {
  return (good) => ({ process: { ...good.process, exec: change(good.process.exec, good) } })
}

function withFs(
  change: (fs: SandboxFs, sandbox: SandboxHandle) => Partial<SandboxFs>,
): NonNullable<ProviderMutant['handle']> {
  return (good) => ({ fs: { ...good.fs, ...change(good.fs, good) } })
}

function withSpawned(
  change: (good: SandboxSpawnHandle) => Partial<SandboxSpawnHandle>,
): NonNullable<ProviderMutant['handle']> {
  return (good) => ({
    process: {
      ...good.process,
      spawn: async (command, options) => {
        const spawned = await good.process.spawn(command, options)
        return { ...spawned, ...change(spawned) }
      },
    },
  })
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

const execMutants: readonly ProviderMutant[] = [
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

const spawnMutants: readonly ProviderMutant[] = [
  {
    name: 'kill ends the process but not its children',
    base: 'process',
    handle: withSpawned((good) => ({
      kill: async (signal = 'SIGTERM') => {
        try {
          process.kill(good.pid, signal)
        } catch {
          return
        }
        await good.wait()
      },
    })),
    hangs: true,
    among: ['kill.ends', 'kill.after', 'kill.stubborn', 'kill.stops', 'kill.leaves'],
    detectedBy: ['kill.after-the-leader', 'kill.ends-the-tree', 'kill.stubborn'],
  },
  {
    name: 'the input of a process never ends',
    base: 'process',
    handle: withSpawned((good) => ({ stdin: { ...good.stdin, end: async () => undefined } })),
    hangs: true,
    among: ['spawn.'],
    detectedBy: ['spawn.stdin.after-end', 'spawn.stdin.dialogue', 'spawn.stdin.writes'],
  },
  {
    name: 'writing to a process that ended works in silence',
    base: 'process',
    handle: withSpawned((good) => ({
      stdin: { ...good.stdin, write: (data) => good.stdin.write(data).catch(() => undefined) },
    })),
    among: ['spawn.'],
    detectedBy: ['spawn.stdin.after-end', 'spawn.stdin.after-exit'],
  },
]

const fsMutants: readonly ProviderMutant[] = [
  {
    name: 'exists is false for any failure',
    base: 'memory',
    handle: withFs((fs) => ({ exists: (path) => fs.exists(path).catch(() => false) })),
    among: ['fs.exists', 'fs.path.', 'fs.links.', 'outage.', 'closed.'],
    detectedBy: [
      'closed.elsewhere',
      'closed.refuses',
      'fs.links.confined',
      'fs.links.loop',
      'fs.path.refused',
      'outage.files',
    ],
  },
  {
    name: 'write shows a part first',
    base: 'memory',
    handle: withFs((fs) => ({
      write: async (path, data) => {
        if (typeof data === 'string') await fs.write(path, data.slice(0, data.length / 2))
        await new Promise((resolve) => setImmediate(resolve))
        await fs.write(path, data)
      },
    })),
    among: ['fs.write.', 'fs.read.'],
    detectedBy: ['fs.write.is-atomic'],
  },
  {
    name: 'write leaves a temporary file',
    base: 'memory',
    handle: withFs((fs) => ({
      write: async (path, data) => {
        await fs.write(path, data)
        await fs.write('.temporary', data)
      },
    })),
    among: ['fs.write.'],
    detectedBy: ['fs.write.leaves-nothing'],
  },
  {
    name: 'write loses the mode',
    base: 'memory',
    handle: withFs((fs) => ({
      write: async (path, data) => {
        const stat = await fs.lstat?.(path)
        if (stat?.type === 'file') await fs.remove(path)
        await fs.write(path, data)
      },
    })),
    among: ['fs.write.', 'fs.read.', 'fs.lstat'],
    detectedBy: ['fs.write.is-atomic', 'fs.write.keeps-mode'],
  },
  {
    name: 'bytes go through text',
    base: 'memory',
    handle: withFs((fs) => ({ readBytes: async (path) => new TextEncoder().encode(await fs.read(path)) })),
    among: ['fs.read.', 'fs.write.'],
    detectedBy: ['fs.read.bytes'],
  },
  {
    name: 'a byte order mark is lost',
    base: 'memory',
    handle: withFs((fs) => ({ read: async (path) => new TextDecoder().decode(await fs.readBytes(path)) })),
    among: ['fs.read.', 'fs.write.'],
    detectedBy: ['fs.read.text'],
  },
  {
    name: 'names are trimmed',
    base: 'memory',
    handle: withFs((fs) => ({
      list: async (path) => {
        const entries = await fs.list(path)
        return entries.map((entry) => ({ ...entry, name: entry.name.trim(), path: entry.path.trim() }))
      },
    })),
    among: ['fs.list.', 'fs.path.'],
    detectedBy: ['fs.path.names'],
  },
  {
    name: 'hidden entries are not listed',
    base: 'memory',
    handle: withFs((fs) => ({
      list: async (path) => (await fs.list(path)).filter(({ name }) => !name.startsWith('.')),
    })),
    among: ['fs.list.', 'fs.path.'],
    detectedBy: ['fs.list.entries', 'fs.path.names'],
  },
  {
    name: 'lstat follows links',
    base: 'process',
    handle: withFs((fs, sandbox) => ({
      lstat: async (path) => {
        const stat = await fs.lstat?.(path)
        if (stat?.type !== 'symlink') return stat
        const { stdout, exitCode } = await sandbox.process.exec('stat -L -c "%f %F" -- "$P"', { env: { P: path } })
        if (exitCode !== 0) return undefined
        const mode = Number.parseInt(stdout, 16)
        return stdout.includes('directory') ? { type: 'dir', mode } : { type: 'file', mode, size: 0 }
      },
    })),
    among: ['fs.lstat', 'fs.exists', 'fs.remove'],
    detectedBy: ['fs.lstat.link'],
  },
  {
    name: 'remove of nothing is an error',
    base: 'memory',
    handle: withFs((fs) => ({
      remove: async (path) => {
        if (await fs.exists(path)) return fs.remove(path)
        await fs.readBytes(path)
      },
    })),
    among: ['fs.remove'],
    detectedBy: ['fs.remove.missing'],
  },
]

const providerMutants: readonly ProviderMutant[] = [
  {
    name: 'a service out of reach reads as a sandbox that is gone',
    base: 'memory',
    provider: (good) => ({
      resume: (input) =>
        good.resume(input).catch((error: unknown) => (isHoldfastError(error) ? null : Promise.reject(error as Error))),
    }),
    among: ['resume.', 'outage.', 'create.'],
    detectedBy: ['outage.resume'],
  },
  {
    name: 'a sandbox is adopted whoever owns it',
    base: 'memory',
    provider: (good) => ({
      create: async (input) => {
        const existing = input.id === undefined ? null : await good.resume({ id: input.id }).catch(() => null)
        return existing ?? good.create(input)
      },
    }),
    among: ['create.', 'lost-reply.'],
    detectedBy: ['create.refuses-foreign'],
  },
  {
    name: 'create never adopts',
    base: 'memory',
    provider: (good) => ({
      create: async (input) => {
        const { id, ...withoutId } = input
        const isTaken = id !== undefined && (await good.resume({ id }).catch(() => null)) !== null
        return good.create(isTaken ? withoutId : input)
      },
    }),
    hangs: true,
    among: ['create.', 'lost-reply.', 'destroy.'],
    detectedBy: ['create.adopts', 'create.refuses-foreign', 'lost-reply.create'],
  },
  {
    name: 'destroy fails in silence',
    base: 'memory',
    provider: (good) => ({ destroy: (input) => good.destroy(input).catch(() => undefined) }),
    among: ['destroy.', 'outage.', 'closed.'],
    detectedBy: ['outage.destroy'],
  },
  {
    name: 'a destroyed handle goes on',
    base: 'memory',
    handle: (good) => ({ env: { set: async () => undefined }, destroy: () => good.destroy() }),
    among: ['closed.'],
    detectedBy: ['closed.refuses'],
  },
  {
    name: 'list ignores all labels but one',
    base: 'memory',
    provider: (good) => ({
      list: (input) =>
        (good.list as NonNullable<typeof good.list>)({
          labels: Object.fromEntries(Object.entries(input.labels).slice(0, 1)),
        }),
    }),
    hangs: true,
    among: ['list.'],
    detectedBy: ['list.by-labels'],
  },
  {
    name: 'a capability is false without a reason',
    base: 'memory',
    capabilities: (good) => ({ ...good, unsupported: { ...good.unsupported, ports: '' } }),
    among: ['manifest.', 'ports.'],
    detectedBy: ['manifest.gives-reasons', 'manifest.is-stable', 'ports.channel', 'ports.range', 'ports.reaches'],
  },
]

export const PROVIDER_MUTANTS: readonly ProviderMutant[] = [
  ...execMutants,
  ...spawnMutants,
  ...fsMutants,
  ...providerMutants,
]
