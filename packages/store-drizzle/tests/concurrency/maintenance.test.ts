import { runCommand } from 'citty'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { storeCommand } from '../../src/cli/store-command.ts'
import type { SqlStores } from '../../src/index.ts'
import { MIGRATIONS } from '../../src/migrations/migration-list.ts'
import { ConcurrencyServer } from '../support/concurrency-server.ts'
import { textChunk } from '../support/text-chunk.ts'

const GRACE_MS = 600_000
const keyOf = (digit: string) => `sandbox-files/sha256/${digit.repeat(64)}`

let server: ConcurrencyServer
let stores: SqlStores
beforeAll(async () => {
  server = await ConcurrencyServer.start()
  stores = server.host()
}, 60_000)
afterAll(() => server.stop())

/** Bytes under a key that they do not match could not be put, so the row is renamed. */
async function putAged(key: string): Promise<void> {
  await stores.blobs.put('aged', 'bytes')
  await server.admin`update holdfast.blobs set key = ${key}, touched_at = 0 where key = 'aged'`
}

async function saveCheckpoints(threadId: string): Promise<void> {
  const writer = await stores.checkpoints.acquireWriter(threadId)
  let parent: string | null = null
  for (const [index, digit] of ['a', 'b', 'c', 'd', 'e'].entries()) {
    const id = `${threadId}-${index}`
    await stores.checkpoints.append({
      writer,
      expectedHeadId: parent,
      checkpoint: {
        id,
        threadId,
        parentCheckpointId: parent,
        createdAt: index,
        reason: index === 0 ? 'named' : 'automatic',
        files: [{ path: 'file', kind: 'file', blobKey: keyOf(digit), size: 5 }],
        conversation: [],
        artifacts: [],
      },
    })
    parent = id
  }
}

async function run(...args: string[]): Promise<Record<string, unknown>> {
  const lines: string[] = []
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0)
  try {
    await runCommand(storeCommand, { rawArgs: [...args, '--url', server.postgres.url, '--json'] })
  } finally {
    write.mockRestore()
  }
  return JSON.parse(lines.join('')) as Record<string, unknown>
}

describe('prune', () => {
  test('removes what no rule keeps, and a dry run says the same and removes nothing', { timeout: 60_000 }, async () => {
    for (const digit of ['a', 'b', 'c', 'd', 'e', 'f']) await putAged(keyOf(digit))
    await stores.blobs.put('app/own-key', 'kept')
    await saveCheckpoints('thread')
    await server.admin`update holdfast.blobs set touched_at = 0`
    for (const [runId, isClosed] of [
      ['closed', true],
      ['open', false],
    ] as const) {
      const log = stores.eventLog.open({ runId })
      await log.append([textChunk('one')])
      if (isClosed) await log.close()
    }
    await server.admin`update holdfast.run_logs set closed_at = 1 where closed_at is not null`
    const rules = ['--keep-last', '2', '--logs-older-than', '1d', '--blob-grace', '10m']
    const wanted = { eventLogs: 1, checkpoints: 2, blobs: 3, blobBytes: 15, uploads: 0 }
    expect(await run('prune', ...rules, '--dry-run')).toEqual({ ...wanted, dryRun: 'true' })
    expect(await run('status')).toMatchObject({ checkpoints: 5, blobs: 7, open_logs: 1, closed_logs: 1 })
    expect(await run('prune', ...rules)).toEqual({ ...wanted, dryRun: 'false' })
    expect((await stores.checkpoints.list('thread')).map(({ id }) => id)).toEqual(['thread-0', 'thread-3', 'thread-4'])
    expect((await stores.checkpoints.get('thread-3'))?.files).toMatchObject([{ blobKey: keyOf('d') }])
    expect((await stores.blobs.list({})).objects.map(({ key }) => key)).toEqual([
      'app/own-key',
      keyOf('a'),
      keyOf('d'),
      keyOf('e'),
    ])
    expect(await stores.eventLog.open({ runId: 'open' }).snapshot()).toHaveLength(1)
    expect(await stores.eventLog.find('closed')).toBeNull()
    expect(await run('prune', ...rules)).toMatchObject({ eventLogs: 0, checkpoints: 0, blobs: 0 })
  })

  test('an upload that was cut off is removed after the grace period', async () => {
    await server.admin`insert into holdfast.blob_chunks values (gen_random_uuid(), 0, 'x', 0)`
    expect(await stores.maintenance.prune({ blobs: { graceMs: GRACE_MS } })).toMatchObject({ uploads: 1 })
  })

  test('a grace period that a save could outlast is refused', async () => {
    await expect(stores.maintenance.prune({ blobs: { graceMs: 1_000 } })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
    await expect(stores.maintenance.prune({ checkpoints: {} })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})

test('holdfast-store migrate says the version', async () => {
  expect(await run('migrate')).toEqual({ version: MIGRATIONS.length })
})
