import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createMemoryStores } from '../../../src/index.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

describe('blobs', () => {
  test('bytes that break the promise of their key or length are not stored', async () => {
    const { blobs } = createMemoryStores({ maxBlobBytes: 10 })
    const key = `sandbox-files/sha256/${sha256('good')}`
    await expect(blobs.put(key, 'evil')).rejects.toMatchObject({ code: 'BLOB_MISMATCH' })
    await expect(blobs.put('k', 'four', { expectedLength: 5 })).rejects.toMatchObject({ code: 'BLOB_MISMATCH' })
    await expect(blobs.put('k', 'x'.repeat(11))).rejects.toMatchObject({ code: 'BLOB_TOO_LARGE' })
    await expect(blobs.put('', 'x')).rejects.toMatchObject({ code: 'INVALID_ID' })
    await expect(blobs.put('k', 7 as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(await blobs.list()).toMatchObject({ objects: [] })
    expect(await blobs.put(key, 'good')).toMatchObject({ etag: sha256('good'), size: 4 })
  })

  test('a stream that fails halfway stores nothing, and one that is refused is let go', async () => {
    const { blobs } = createMemoryStores({ maxBlobBytes: 10 })
    let pulls = 0
    const failing = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulls += 1
        if (pulls === 1) controller.enqueue(new Uint8Array(3))
        else controller.error(new Error('cut'))
      },
    })
    await expect(blobs.put('k', failing)).rejects.toThrow('cut')
    expect(await blobs.head('k')).toBeNull()
    let isCancelled = false
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(4)),
      cancel: () => void (isCancelled = true),
    })
    await expect(blobs.put('k', endless)).rejects.toMatchObject({ code: 'BLOB_TOO_LARGE' })
    expect(isCancelled).toBe(true)
  })

  test('every kind of body gives the same bytes, and ranges are cut', async () => {
    const { blobs } = createMemoryStores()
    const bytes = new TextEncoder().encode('héllo')
    const bodies = [
      'héllo',
      bytes,
      bytes.buffer.slice(0),
      new Blob([bytes]),
      new Blob([bytes]).stream(),
      new DataView(bytes.buffer),
    ]
    for (const body of bodies) {
      await blobs.put('k', body as never)
      expect(await (await blobs.get('k'))?.text()).toBe('héllo')
    }
    const range = async (offset: number, length?: number) => {
      const part = await blobs.get('k', { range: { offset, ...(length === undefined ? {} : { length }) } })
      return [new Uint8Array((await part?.arrayBuffer()) ?? new ArrayBuffer(9)).length, part?.range]
    }
    expect(await range(1, 2)).toEqual([2, { offset: 1, length: 2 }])
    expect(await range(4)).toEqual([2, { offset: 4, length: 2 }])
    expect(await range(0)).toEqual([6, undefined])
    expect((await range(99))[0]).toBe(0)
    await expect(blobs.get('k', { range: { offset: -1 } })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    const object = await blobs.get('k')
    await object?.text()
    await expect(object?.arrayBuffer()).rejects.toThrow(TypeError)
  })

  test('a reader cannot change what is stored', async () => {
    const { blobs } = createMemoryStores()
    await blobs.put('k', 'abc', { customMetadata: { a: '1' } })
    const object = await blobs.get('k')
    for await (const chunk of object?.body ?? []) chunk.fill(0)
    expect(await (await blobs.get('k'))?.text()).toBe('abc')
  })

  test('lists go by UTF-8 bytes, a page at a time', async () => {
    const { blobs } = createMemoryStores()
    for (const key of ['p/\u{1f600}', 'p/\uffee', 'p/a', 'q']) await blobs.put(key, key)
    const first = await blobs.list({ prefix: 'p/', limit: 2 })
    expect(first).toMatchObject({ objects: [{ key: 'p/a' }, { key: 'p/\uffee' }], truncated: true })
    const rest = await blobs.list({ prefix: 'p/', limit: 2, cursor: first.cursor ?? '' })
    expect(rest.objects.map(({ key }) => key)).toEqual(['p/\u{1f600}'])
    expect([...((await blobs.headMany?.(['q', 'none'])) ?? [])].map(([key]) => key)).toEqual(['q'])
    await expect(blobs.list({ limit: 0 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})

describe('threads', () => {
  test('a foreign thread is missing', async () => {
    const { threads } = createMemoryStores()
    const record = await threads.ensure({ threadId: 't', ownerId: 'me', title: 'one' })
    expect(await threads.ensure({ threadId: 't', ownerId: 'me', title: 'two' })).toEqual(record)
    await expect(threads.ensure({ threadId: 't', ownerId: 'you' })).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' })
    expect(await threads.find('t', 'you')).toBeNull()
    expect(await threads.find('t')).toEqual(record)
    expect(await threads.list({ ownerId: 'you' })).toEqual({ threads: [] })
  })

  test('the newest change comes first, by pages', async () => {
    const clock = new ManualClock()
    const { threads } = createMemoryStores({ clock })
    for (const threadId of ['a', 'b', 'c']) {
      await threads.ensure({ threadId, ownerId: 'me' })
      clock.advance(1)
    }
    await threads.rename('a', 'new')
    await threads.touch('none')
    const first = await threads.list({ ownerId: 'me', limit: 2 })
    expect(first.threads.map(({ threadId }) => threadId)).toEqual(['a', 'c'])
    const rest = await threads.list({ ownerId: 'me', limit: 2, cursor: first.cursor ?? '' })
    expect(rest).toMatchObject({ threads: [{ threadId: 'b' }] })
    expect(rest).not.toHaveProperty('cursor')
  })

  test('delete erases all that the thread owns, keeps instances, and is refused while a run holds it', async () => {
    const stores = createMemoryStores()
    const { threads, drivers, runs, eventLog, messages, interrupts, artifacts, checkpoints, instances } = stores
    await threads.ensure({ threadId: 't', ownerId: 'me' })
    await drivers.claim({ runId: 'r', threadId: 't', owner: 'a', ttlMs: 1 })
    await eventLog.open({ runId: 'r', epoch: 1 }).append([{ type: 'CUSTOM', name: 'x', value: 1 } as never])
    await messages.saveThread('t', [{ role: 'user', content: 'hi' }])
    await interrupts.create({ interruptId: 'i', runId: 'r', threadId: 't', requestedAt: 1, payload: {} })
    await artifacts.save({
      artifactId: 'f',
      runId: 'r',
      threadId: 't',
      name: 'n',
      mimeType: 'm',
      size: 1,
      createdAt: 1,
    })
    await instances.upsert({ key: 'k', provider: 'p', providerSandboxId: 's', threadId: 't', updatedAt: 1 })
    const writer = await checkpoints.acquireWriter('t')
    await expect(threads.delete('t')).rejects.toMatchObject({ code: 'THREAD_BUSY' })
    await drivers.finish({ runId: 'r', epoch: 1, status: 'completed' })
    await threads.delete('t')
    await threads.delete('t')
    expect(await threads.find('t')).toBeNull()
    expect(await runs.get('r')).toBeNull()
    expect(await eventLog.find('r')).toBeNull()
    expect(await messages.loadThread('t')).toEqual([])
    expect(await interrupts.get('i')).toBeNull()
    expect(await artifacts.get('f')).toBeNull()
    await expect(writer.renew()).rejects.toMatchObject({ code: 'SANDBOX_SNAPSHOT_WRITER_LOST' })
    expect(await instances.get('k')).not.toBeNull()
  })
})

test('a transcript is refused from a driver that was superseded', async () => {
  const { drivers, messages } = createMemoryStores()
  await drivers.claim({ runId: 'r', threadId: 't', owner: 'a', ttlMs: 0 })
  await messages.saveThread('t', [{ role: 'user', content: 'one' }], { runId: 'r', epoch: 1 })
  await drivers.claim({ runId: 'r', threadId: 't', owner: 'b', ttlMs: 0 })
  await expect(messages.saveThread('t', [], { runId: 'r', epoch: 1 })).rejects.toMatchObject({ code: 'DRIVER_LOST' })
  expect(await messages.loadThread('t')).toEqual([{ role: 'user', content: 'one' }])
})

test('the date of a message is a date again when it is read', async () => {
  const { messages } = createMemoryStores()
  const createdAt = new Date(1_700_000_000_123)
  await messages.saveThread('t', [{ role: 'user', content: 'hi', createdAt } as never])
  expect(await messages.loadThread('t')).toEqual([{ role: 'user', content: 'hi', createdAt }])
})

test('a batch of interrupt answers is stored whole or not at all', async () => {
  const { interrupts } = createMemoryStores({ clock: new ManualClock(50) })
  for (const interruptId of ['a', 'b']) {
    await interrupts.create({ interruptId, runId: 'r', threadId: 't', requestedAt: 1, payload: { n: 1 } })
  }
  const resolved = (interruptId: string) => ({ interruptId, status: 'resolved' as const, response: { ok: true } })
  for (const batch of [
    [resolved('a'), resolved('a')],
    [resolved('a'), resolved('none')],
  ]) {
    await expect(interrupts.commitBatch?.(batch)).rejects.toMatchObject({ code: 'INTERRUPT_CONFLICT' })
  }
  expect(await interrupts.listPending('t')).toHaveLength(2)
  await interrupts.commitBatch?.([resolved('a'), { interruptId: 'b', status: 'cancelled' }])
  expect(await interrupts.get('a')).toMatchObject({ status: 'resolved', response: { ok: true }, resolvedAt: 50 })
  await interrupts.cancel('a')
  await interrupts.resolve('none')
  expect((await interrupts.listByRun('r')).map(({ status }) => status)).toEqual(['resolved', 'cancelled'])
  await interrupts.create({ interruptId: 'a', runId: 'x', threadId: 'x', requestedAt: 1, payload: {} })
  expect(await interrupts.get('a')).toMatchObject({ runId: 'r' })
})

test('an instance is replaced whole, and listed oldest first by pages', async () => {
  const { instances } = createMemoryStores()
  const record = { key: 'b', provider: 'p', providerSandboxId: 's', threadId: 't', updatedAt: 2 }
  await instances.upsert({ ...record, latestRunId: 'r', labels: { a: '1' } })
  await instances.upsert({ ...record, latestSnapshotId: undefined } as never)
  expect(await instances.get('b')).toStrictEqual(record)
  await instances.upsert({ ...record, key: 'a' })
  await instances.upsert({ ...record, key: 'c', updatedAt: 1 })
  const first = await instances.list?.({ provider: 'p', before: 3, limit: 2 })
  expect(first?.records.map(({ key }) => key)).toEqual(['c', 'a'])
  const rest = await instances.list?.({ provider: 'p', limit: 2, cursor: first?.cursor ?? '' })
  expect(rest?.records.map(({ key }) => key)).toEqual(['b'])
  expect((await instances.list?.({ before: 2 }))?.records).toHaveLength(1)
  await expect(instances.upsert({ ...record, updatedAt: -1 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
})

test('metadata keeps JSON, and null reads as none', async () => {
  const { metadata } = createMemoryStores()
  await expect(metadata.set('n', 'k', Number.POSITIVE_INFINITY)).rejects.toMatchObject({ code: 'INVALID_CHUNK' })
  const value = { a: [1] }
  await metadata.set('n', 'k', value)
  value.a.push(2)
  expect(await metadata.get('n', 'k')).toEqual({ a: [1] })
  await metadata.set('n', 'k', null)
  expect(await metadata.get('n', 'k')).toBeNull()
  await metadata.delete('n', 'none')
})

test('every store refuses every call after close, which may be repeated', async () => {
  const stores = createMemoryStores()
  const writer = await stores.checkpoints.acquireWriter('t')
  await stores.ping()
  await stores.close()
  await stores.close()
  const calls = [
    stores.ping(),
    stores.runs.get('r'),
    stores.drivers.claim({ runId: 'r', threadId: 't', owner: 'o', ttlMs: 1 }),
    stores.eventLog.open({ runId: 'r' }).append([]),
    stores.eventLog.find('r'),
    stores.instances.get('k'),
    stores.locks.withLock('k', () => Promise.resolve()),
    stores.threads.find('t'),
    stores.messages.loadThread('t'),
    stores.interrupts.get('i'),
    stores.metadata.get('n', 'k'),
    stores.blobs.put('k', 'x'),
    stores.artifacts.list('r'),
    stores.checkpoints.list('t'),
    writer.renew(),
  ]
  for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'STORE_CLOSED' })
})
