import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync, chownSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const BINARIES = [
  '/usr/sbin/pgbouncer',
  '/usr/bin/pgbouncer',
  '/usr/local/bin/pgbouncer',
  '/opt/homebrew/bin/pgbouncer',
]
const NOBODY = 65_534

export const pgbouncer = BINARIES.find((path) => existsSync(path))

/** A pooler in transaction mode with two server connections in front of one server. */
export async function startPooler(serverPort: number): Promise<{ url: string; stop: () => Promise<void> }> {
  if (pgbouncer === undefined) throw new Error('pgbouncer is not installed: apt-get install pgbouncer')
  const port = await freePort()
  const dir = mkdtempSync(join(tmpdir(), 'pooler-'))
  const file = join(dir, 'pgbouncer.ini')
  const settings = [
    '[databases]',
    `* = host=127.0.0.1 port=${serverPort} user=postgres`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'default_pool_size = 2',
    'max_client_conn = 200',
    'ignore_startup_parameters = extra_float_digits,application_name',
  ]
  writeFileSync(file, settings.join('\n'))
  const isRoot = process.getuid?.() === 0
  if (isRoot) for (const path of [dir, file]) chownSync(path, NOBODY, NOBODY)
  const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {}
  const child = spawn(pgbouncer, [file], { ...identity, cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] })
  await untilReady(child)
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop: async () => {
      child.kill('SIGKILL')
      await new Promise((resolve) => child.once('exit', resolve))
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

function untilReady(child: ChildProcess): Promise<void> {
  let log = ''
  return new Promise((resolve, reject) => {
    child.stderr?.on('data', (data: Buffer) => {
      log += data.toString()
      if (log.includes('process up')) resolve()
    })
    child.once('exit', (code) => reject(new Error(`pgbouncer ended with ${code}: ${log}`)))
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}
