import { createMemoryStores, StoreError } from '@holdfast/core'
import type { EventLog } from '@holdfast/core'
import { FakeClock } from '@holdfast/testing'
import type { StreamChunk } from '@tanstack/ai'
import { describe, expect, it } from 'vitest'
import { LogWriter } from '../../../src/runs/log-writer.ts'
import { storedChunks } from '../../fixtures/chat-fixture.ts'
import { settled } from '../../fixtures/gate.ts'

const chunk = (text: string): StreamChunk =>
  ({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: text, timestamp: 1 }) as StreamChunk
const unknownOutcome = new StoreError('STORE_OUTCOME_UNKNOWN', 'The connection was lost.')

/** A log whose appends can be made to fail before or after they take effect. */
function fixture(failures: ('before' | 'after' | 'none')[]): {
  writer: LogWriter
  clock: FakeClock
  batches: number[]
  texts: () => Promise<string[]>
} {
  const clock = new FakeClock()
  const stores = createMemoryStores({ clock })
  const log = stores.eventLog.open({ runId: 'run-1' })
  const batches: number[] = []
  const failing: EventLog = {
    runId: log.runId,
    resumeFrom: () => log.resumeFrom(),
    read: (offset, signal) => log.read(offset, signal),
    snapshot: () => log.snapshot(),
    close: () => log.close(),
    async append(chunks) {
      const failure = failures.shift() ?? 'none'
      if (failure === 'before') throw unknownOutcome
      batches.push(chunks.length)
      const offsets = await log.append(chunks)
      if (failure === 'after') throw unknownOutcome
      return offsets
    },
  }
  const writer = new LogWriter({ log: failing, logs: stores.eventLog, clock, isNew: true })
  const texts = async (): Promise<string[]> =>
    (await storedChunks(stores, 'run-1')).map((stored) => (stored.type === 'TEXT_MESSAGE_CONTENT' ? stored.delta : ''))
  return { writer, clock, batches, texts }
}

describe('LogWriter', () => {
  it('stores a lone chunk at once and what arrives meanwhile in one batch', async () => {
    const { writer, batches, texts } = fixture([])
    await writer.push(chunk('a'))
    for (const text of ['b', 'c', 'd']) await writer.push(chunk(text))
    await writer.flush()
    expect(await texts()).toEqual(['a', 'b', 'c', 'd'])
    expect(batches.length).toBeLessThan(4)
  })

  it('stores what comes at any moment of an append before a flush resolves', async () => {
    for (let reactions = 0; reactions < 20; reactions += 1) {
      const { writer, texts } = fixture([])
      await writer.push(chunk('a'))
      for (let passed = 0; passed < reactions; passed += 1) await Promise.resolve()
      void writer.push(chunk('b'))
      for (let passed = 0; passed < 5; passed += 1) await Promise.resolve()
      await writer.flush()
      expect(await texts(), `b after ${reactions} reactions`).toEqual(['a', 'b'])
    }
  })

  for (const failure of ['before', 'after'] as const) {
    it(`loses and doubles nothing when the connection is lost ${failure} an append took effect`, async () => {
      const { writer, clock, texts } = fixture([failure])
      await writer.push(chunk('a'))
      await writer.push(chunk('b'))
      const flushed = writer.flush()
      await settled()
      await clock.advance(10_000)
      await flushed
      expect(await texts()).toEqual(['a', 'b'])
    })
  }

  it('gives up after its retries and reports the failure to every later call', async () => {
    const { writer, clock } = fixture(Array.from({ length: 20 }, () => 'before' as const))
    await writer.push(chunk('a'))
    const flushed = writer.flush().catch((error: unknown) => error)
    for (let round = 0; round < 10; round += 1) await clock.advance(10_000)
    expect(await flushed).toBe(unknownOutcome)
    await expect(writer.push(chunk('b'))).rejects.toBe(unknownOutcome)
  })

  it('does not retry what cannot succeed', async () => {
    const { writer } = fixture([])
    await writer.push({
      type: 'CUSTOM',
      name: 'x',
      value: { n: Number.POSITIVE_INFINITY },
      timestamp: 1,
    } as StreamChunk)
    await expect(writer.flush()).rejects.toMatchObject({ code: 'INVALID_CHUNK' })
  })
})
