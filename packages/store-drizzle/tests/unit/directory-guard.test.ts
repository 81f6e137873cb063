import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createEmbeddedStores } from '../../src/index.ts'
import { claimDirectory } from '../../src/embedded/directory-guard.ts'
import { identifyProcess } from '../../src/embedded/process-identity.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'guard-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** A guard as `identity` would have left it. */
const leaveGuard = (identity: object): string => {
  const path = join(dir, 'in-use.left-over.json')
  writeFileSync(path, JSON.stringify({ guardId: 'left-over', host: hostname(), isHeld: true, ...identity }))
  return path
}
const guards = () => readdirSync(dir).filter((name) => name.startsWith('in-use'))

describe('a directory of an embedded store', () => {
  test('is refused while another process has it, with its pid and what to do', async () => {
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    leaveGuard(await identifyProcess(other.pid!))
    const claim = claimDirectory(dir)
    await expect(claim).rejects.toMatchObject({ code: 'STORE_DIRECTORY_IN_USE', details: { pid: other.pid! } })
    await expect(claim).rejects.toThrow(new RegExp(`Process ${other.pid} .*PostgreSQL`))
    other.kill('SIGKILL')
    await new Promise((resolve) => other.once('exit', resolve))
    const release = await claimDirectory(dir)
    expect(guards()).toHaveLength(1)
    await release()
    expect(guards()).toEqual([])
  })

  test('is refused to the same process a second time', async () => {
    const release = await claimDirectory(dir)
    await expect(claimDirectory(dir)).rejects.toMatchObject({ code: 'STORE_DIRECTORY_IN_USE' })
    await release()
    await (
      await claimDirectory(dir)
    )()
  })

  test('is taken over when the pid belongs to a later process', async () => {
    leaveGuard({ pid: process.pid, startedAt: 'another start' })
    await (
      await claimDirectory(dir)
    )()
  })

  test('is given to one of many that find a stale guard', async () => {
    leaveGuard({ pid: 2 ** 22 + 1 })
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => claimDirectory(dir)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(guards()).toHaveLength(1)
  })

  test('of another host is taken over once its guard is old', async () => {
    const path = leaveGuard({ pid: 1, host: 'elsewhere' })
    await expect(claimDirectory(dir)).rejects.toMatchObject({ details: { host: 'elsewhere' } })
    const longAgo = new Date(Date.now() - 600_000)
    utimesSync(path, longAgo, longAgo)
    await (
      await claimDirectory(dir)
    )()
  })
})

describe('embedded stores', () => {
  test('keep everything over a close, and refuse a second opening', { timeout: 300_000 }, async () => {
    const stores = createEmbeddedStores({ dir: join(dir, 'store') })
    await stores.messages.saveThread('thread', [{ role: 'user', content: 'kept' }])
    await stores.blobs.put('blob', 'bytes')
    const second = createEmbeddedStores({ dir: join(dir, 'store') })
    await expect(second.ping()).rejects.toMatchObject({ code: 'STORE_DIRECTORY_IN_USE' })
    await stores.close()
    await expect(stores.ping()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    await expect(stores.blobs.head('blob')).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    expect(await second.messages.loadThread('thread')).toEqual([{ role: 'user', content: 'kept' }])
    expect(await (await second.blobs.get('blob'))?.text()).toBe('bytes')
    expect((await second.maintenance.status()).counts['threads']).toBe(0)
    await second.close()
  })

  test(
    'let go of the directory whole when the start fails, and the next call starts',
    { timeout: 300_000 },
    async () => {
      const path = join(dir, 'store')
      const first = createEmbeddedStores({ dir: path })
      await first.metadata.set('space', 'key', 'kept')
      await first.close()
      const changeVersion = async (sql: string): Promise<void> => {
        const pglite = await PGlite.create(join(path, 'pg'))
        await pglite.exec(sql)
        await pglite.close()
      }
      await changeVersion(`insert into holdfast.migrations values (1000, 'later', 0)`)
      const closePglite = vi.spyOn(PGlite.prototype, 'close')
      const stores = createEmbeddedStores({ dir: path })
      await expect(stores.ping()).rejects.toMatchObject({ code: 'STORE_SCHEMA_NEWER' })
      expect(closePglite).toHaveBeenCalled()
      closePglite.mockRestore()
      await changeVersion('delete from holdfast.migrations where version = 1000')
      expect(await stores.metadata.get('space', 'key')).toBe('kept')
      await stores.close()
    },
  )
})
