import { createHash } from 'node:crypto'
import { isHoldfastError } from '@holdfast/core'
import type { SandboxCheckpoint } from '@holdfast/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ConcurrencyServer, ROUNDS } from '../support/concurrency-server.ts'

let server: ConcurrencyServer
beforeAll(async () => {
  server = await ConcurrencyServer.start()
}, 60_000)
afterAll(() => server.stop())

const keyOf = (text: string) => `sandbox-files/sha256/${createHash('sha256').update(text).digest('hex')}`

function checkpoint(
  fields: Pick<SandboxCheckpoint, 'id' | 'threadId' | 'parentCheckpointId'>,
  contents: string[],
): SandboxCheckpoint {
  const files = contents.map((text, index) => ({
    path: `file-${index}`,
    kind: 'file' as const,
    blobKey: keyOf(text),
    size: text.length,
  }))
  return { ...fields, createdAt: 1, reason: 'automatic', files, conversation: [], artifacts: [] }
}

test('writers that race for a head make one chain', { timeout: 600_000 }, async () => {
  const hosts = server.hosts(8)
  for (let round = 0; round < ROUNDS; round += 1) {
    const threadId = `race-${round}`
    const saved: string[] = []
    await Promise.all(
      hosts.map(async ({ checkpoints }, index) => {
        for (let mine = 0; mine < 4;) {
          try {
            const writer = await checkpoints.acquireWriter(threadId)
            const head = await checkpoints.getHead(threadId)
            const id = `${threadId}-${index}-${mine}`
            await checkpoints.append({
              checkpoint: checkpoint({ id, threadId, parentCheckpointId: head }, [id]),
              expectedHeadId: head,
              writer,
            })
            saved.push(id)
            mine += 1
            await writer.release()
            await expect(writer.renew()).rejects.toMatchObject({ code: 'SANDBOX_SNAPSHOT_WRITER_LOST' })
          } catch (error) {
            if (!isHoldfastError(error, 'SANDBOX_SNAPSHOT_WRITER_CONFLICT')) throw error
            await new Promise((resolve) => setTimeout(resolve, 2))
          }
        }
      }),
    )
    const chain: string[] = []
    const { checkpoints } = hosts[0]!
    for (let id = await checkpoints.getHead(threadId); id !== null;) {
      const found = await checkpoints.get(id)
      expect(found?.files).toEqual([{ path: 'file-0', kind: 'file', blobKey: keyOf(id), size: id.length }])
      chain.unshift(id)
      id = found?.parentCheckpointId ?? null
    }
    expect(chain).toEqual(saved)
  }
})

test('a collection that races with saves never takes a blob that is named', { timeout: 600_000 }, async () => {
  const hosts = server.hosts(8)
  const graceMs = 600_000
  for (let round = 0; round < ROUNDS; round += 1) {
    const texts = Array.from({ length: 30 }, (_, index) => `content ${round} ${index}`)
    await Promise.all(texts.map((text) => hosts[0]!.blobs.put(keyOf(text), text)))
    await server.admin`update holdfast.blobs set touched_at = 0`
    let isSaving = true
    const collecting = (async () => {
      while (isSaving) await hosts[7]!.maintenance.prune({ blobs: { graceMs } })
    })()
    await Promise.all(
      hosts.slice(0, 7).map(async ({ blobs, checkpoints }, index) => {
        const threadId = `collect-${round}-${index}`
        const mine = texts.filter((_, each) => each % 7 === index || each % 5 === 0)
        const held = await blobs.headMany!(mine.map(keyOf))
        for (const text of mine) if (!held.has(keyOf(text))) await blobs.put(keyOf(text), text)
        const writer = await checkpoints.acquireWriter(threadId)
        await checkpoints.append({
          checkpoint: checkpoint({ id: threadId, threadId, parentCheckpointId: null }, mine),
          expectedHeadId: null,
          writer,
        })
      }),
    )
    isSaving = false
    await collecting
    await server.admin`update holdfast.blobs set touched_at = 0`
    await hosts[0]!.maintenance.prune({ blobs: { graceMs } })
    const ours = new Set(texts.map(keyOf))
    const named = (await hosts[0]!.checkpoints.listBlobReferences()).filter(({ key }) => ours.has(key))
    expect(named).toHaveLength(texts.length)
    const present = await hosts[1]!.blobs.headMany!(named.map(({ key }) => key))
    expect(named.filter(({ key }) => !present.has(key))).toEqual([])
    expect(await (await hosts[2]!.blobs.get(keyOf(texts[0]!)))?.text()).toBe(texts[0])
  }
})
