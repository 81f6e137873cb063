import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEmbeddedStores } from '../../src/index.ts'
import { buildHostProgram, HostProcess } from '../support/spawn-host.ts'

let program: Awaited<ReturnType<typeof buildHostProgram>>
let dir: string
beforeAll(async () => {
  program = await buildHostProgram()
  dir = mkdtempSync(join(tmpdir(), 'embedded-'))
})
afterAll(() => {
  program.remove()
  rmSync(dir, { recursive: true, force: true })
})

/** How many of them it takes to make a database: over 900. */
const filesOf = (folder: string): number => readdirSync(folder, { recursive: true, withFileTypes: true }).length

test('a process that is killed while it makes the database leaves nothing that stops the next', async () => {
  const database = join(dir, 'pg')
  const host = new HostProcess(program.path, { kind: 'ping', url: pathToFileURL(dir).href, name: 'killed' })
  // The database's files are written at the end, within a few tenths of a second: PG_VERSION is what the next start trusts.
  while (!existsSync(join(database, 'PG_VERSION'))) {
    expect(host.child.exitCode).toBeNull()
    await delay(1)
  }
  host.child.kill('SIGKILL')
  await host.exited
  expect(host.count('ready')).toBe(0)
  const filesLeft = filesOf(database)

  const stores = createEmbeddedStores({ dir })
  await stores.metadata.set('space', 'key', 'kept')
  await stores.close()
  expect(filesOf(database)).toBeGreaterThan(filesLeft)

  const again = createEmbeddedStores({ dir })
  expect(await again.metadata.get('space', 'key')).toBe('kept')
  await again.close()
}, 120_000)

test('a database that cannot be opened is named, and left as it is', async () => {
  const database = join(dir, 'torn', 'pg')
  mkdirSync(database, { recursive: true })
  writeFileSync(join(database, 'PG_VERSION'), '9.4\n')
  const stores = createEmbeddedStores({ dir: join(dir, 'torn') })
  const ping = stores.ping()
  await expect(ping).rejects.toMatchObject({ code: 'STORE_FAILED', details: { path: database } })
  await expect(ping).rejects.toThrow(/could not be opened\. Restore .* or move it away/)
  expect(filesOf(database)).toBe(1)
  await stores.close()
}, 120_000)

test('a database that cannot be made says so, and the next call tries it again', async () => {
  const directory = join(dir, 'blocked')
  mkdirSync(directory)
  writeFileSync(join(directory, 'pg'), 'in the way')
  const stores = createEmbeddedStores({ dir: directory })
  await expect(stores.ping()).rejects.toThrow(/could not be made\. The next start tries it again/)
  await stores.ping()
  await stores.close()
}, 120_000)
