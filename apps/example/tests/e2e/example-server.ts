import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const APP = join(import.meta.dirname, '..', '..')
const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 15_000

export interface ExampleServer {
  readonly url: string
  readonly pid: number
  readonly dir: string
  /** All that the server printed. */
  log: () => string
  /** Sends SIGTERM and answers the exit code. Repeatable. */
  stop: () => Promise<number | null>
  /** Ends it as a crash does. */
  kill9: () => Promise<void>
  /** Ends it and removes its directory. */
  dispose: () => Promise<void>
}

export interface ExampleServerOptions {
  env?: Record<string, string>
  /** Of an earlier server, to continue with its data. */
  dir?: string
  /** Serves the sources with `next dev` in place of the build. */
  isDev?: boolean
}

/** Serves the built example on a free port with data of its own. */
export async function startExample(options: ExampleServerOptions = {}): Promise<ExampleServer> {
  const { isDev = false } = options
  if (!isDev && !existsSync(join(APP, '.next', 'BUILD_ID'))) {
    throw new Error('The example is not built: run `npm run build`.')
  }
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'holdfast-example-')))
  const port = await freePort()
  const NODE_ENV = isDev ? 'development' : 'production'
  const child = spawn(process.execPath, [join(APP, 'server', 'start.mjs'), isDev ? 'dev' : 'start'], {
    cwd: APP,
    env: { PATH: process.env['PATH'], PORT: String(port), HOLDFAST_DIR: dir, NODE_ENV, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (printed += text.toString()))
  const exit = new Promise<number | null>((resolve) => child.on('exit', resolve))
  const url = `http://127.0.0.1:${port}`
  try {
    await untilHealthy(url, child, () => printed)
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
  const stop = async (): Promise<number | null> => {
    child.kill('SIGTERM')
    const code = await Promise.race([exit, wait(STOP_TIMEOUT_MS, 'late' as const)])
    if (code !== 'late') return code
    child.kill('SIGKILL')
    throw new Error(`The server did not stop in time. It printed:\n${printed}`)
  }
  const kill9 = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exit
  }
  return {
    url,
    pid: child.pid ?? 0,
    dir,
    log: () => printed,
    stop,
    kill9,
    async dispose() {
      // `next dev` is two processes, which only the first can end both.
      await (isDev ? stop() : kill9())
      await rm(dir, { recursive: true, force: true })
    },
  }
}

async function untilHealthy(url: string, child: ChildProcess, log: () => string): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}. It printed:\n${log()}`)
    const response = await fetch(`${url}/api/health`).catch(() => null)
    if (response?.ok) return
    await wait(100)
  }
  throw new Error(`The server did not become healthy. It printed:\n${log()}`)
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
