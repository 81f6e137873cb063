import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canStartPostgres, findPostgresBinaries } from '../../../src/postgres/postgres-binaries.ts'
import { createPostgresDirectory, fillPostgresDirectory } from '../../../src/postgres/postgres-directory.ts'
import { findFreePort } from '../../../src/postgres/postgres-port.ts'
import { PostgresWatchdog } from '../../../src/postgres/postgres-watchdog.ts'
import { startPatiently } from '../../../src/postgres/start-patiently.ts'
import { serverArguments, startPostgres } from '../../../src/postgres/start-postgres.ts'
import type { TestPostgres } from '../../../src/postgres/start-postgres.ts'

async function query<T>(url: string, text: string): Promise<T[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    return [...(await sql.unsafe(text))] as T[]
  } finally {
    await sql.end()
  }
}

async function gone(directory: string): Promise<void> {
  while (existsSync(directory)) await wait(20)
}

describe('startPostgres', () => {
  let server: TestPostgres

  beforeAll(async () => {
    server = await startPostgres({ settings: { work_mem: '7MB' } })
  }, 30_000)

  afterAll(() => server.stop())

  test('starts PostgreSQL 18 with the given settings', async () => {
    const [row] = await query<{ version: string; mem: string }>(
      server.url,
      `select current_setting('server_version_num') as version, current_setting('work_mem') as mem`,
    )
    expect(row?.version).toMatch(/^18/)
    expect(row?.mem).toBe('7MB')
  })

  test('gives databases that do not see each other', async () => {
    const [one, other] = await Promise.all([server.createDatabase(), server.createDatabase()])
    await query(one.url, 'create table only_here (n int)')
    await expect(query(other.url, 'select * from only_here')).rejects.toMatchObject({ code: '42P01' })
    await one.drop()
    await one.drop()
    await expect(query(one.url, 'select 1')).rejects.toMatchObject({ code: '3D000' })
  })

  test('prepares a template once however many ask for it at the same time', async () => {
    let prepared = 0
    const clone = () =>
      server.cloneTemplate({
        key: 'once',
        prepare: async (url) => {
          prepared += 1
          await query(url, 'create table filled as select generate_series(1, 3) as n')
        },
      })
    const clones = await Promise.all([clone(), clone(), clone(), clone()])
    for (const { url } of clones) expect(await query(url, 'select n from filled')).toHaveLength(3)
    expect(prepared).toBe(1)
  })

  test('a template whose preparation failed is prepared again', async () => {
    const failing = server.cloneTemplate({ key: 'twice', prepare: () => Promise.reject(new Error('not this time')) })
    await expect(failing).rejects.toThrow('not this time')
    const database = await server.cloneTemplate({
      key: 'twice',
      prepare: async (url) => void (await query(url, 'create table made (n int)')),
    })
    expect(await query(database.url, 'select * from made')).toEqual([])
  })

  test('committed rows survive a restart and a kill -9 on the same port', async () => {
    const database = await server.createDatabase()
    await query(database.url, 'create table kept (n int)')
    await query(database.url, 'insert into kept values (1)')
    await server.restart()
    await query(database.url, 'insert into kept values (2)')
    await server.kill9()
    await expect(query(database.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await server.restart()
    expect(await query(database.url, 'select n from kept order by n')).toEqual([{ n: 1 }, { n: 2 }])
  }, 30_000)

  test('connects through its Unix socket', async () => {
    const sql = postgres({ path: `${server.socketDirectory}/.s.PGSQL.${server.port}`, user: 'postgres', max: 1 })
    expect([...(await sql`select 1 as one`)]).toEqual([{ one: 1 }])
    await sql.end()
  })
})

describe('startPostgres, life and death', () => {
  test('stop ends the server and removes its directory, and may be called twice', async () => {
    const server = await startPostgres()
    await server.stop()
    await server.stop()
    expect(existsSync(server.socketDirectory)).toBe(false)
    await expect(query(server.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  }, 30_000)

  test('kill -9 of the test process leaves neither a process nor a directory', async () => {
    const script = join(import.meta.dirname, 'fixtures/hold-postgres.mjs')
    const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    const { directory, url } = JSON.parse(line) as { directory: string; url: string }
    expect(existsSync(directory)).toBe(true)
    child.kill('SIGKILL')
    await gone(directory)
    await expect(query(url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  }, 30_000)

  test('servers that start at the same time get ports of their own', async () => {
    const servers = await Promise.all([startPostgres(), startPostgres()])
    expect(new Set(servers.map(({ port }) => port)).size).toBe(2)
    await Promise.all(servers.map((server) => server.stop()))
  }, 30_000)

  test('a port that another process took first is given up for the next one', async () => {
    const first = await startPostgres()
    const binaries = findPostgresBinaries(18)
    const directory = createPostgresDirectory(binaries)
    const watchdog = new PostgresWatchdog(directory, serverArguments(directory))
    await fillPostgresDirectory(directory, binaries)
    const free = await findFreePort()
    const ports = [first.port, first.port, free]
    expect(await startPatiently(watchdog, () => Promise.resolve(ports.shift() ?? free))).toBe(free)
    expect(ports).toEqual([])
    await Promise.all([watchdog.end(), first.stop()])
  }, 30_000)

  test('a server that cannot start says why', async () => {
    await expect(startPostgres({ settings: { shared_buffers: 'nonsense' } })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('shared_buffers') as string,
    })
  }, 30_000)
})

describe('findPostgresBinaries', () => {
  test('names the command that installs a version that is missing', () => {
    expect(() => findPostgresBinaries(9 as 15)).toThrow(
      expect.objectContaining({ code: 'PEER_MISSING', details: { command: 'apt-get install postgresql-9' } }),
    )
    expect(canStartPostgres(9 as 15)).toContain('apt-get install postgresql-9')
  })

  test.skipIf(canStartPostgres(15) !== true)(
    'finds the PostgreSQL of the distribution',
    async () => {
      const server = await startPostgres({ version: 15 })
      expect(await query(server.url, `select current_setting('server_version') like '15%' as is15`)).toEqual([
        { is15: true },
      ])
      await server.stop()
    },
    30_000,
  )
})
