import { createMemoryStores, OFFSET_START, StoreError } from '@holdfast/core'
import { FakeClock } from '@holdfast/testing'
import type { StreamChunk } from '@tanstack/ai'
import { describe, expect, it } from 'vitest'
import { eventStreamResponse } from '../../../src/runs/event-stream-response.ts'
import { settled } from '../../fixtures/gate.ts'

const chunk = { type: 'CUSTOM', name: 'x', value: {}, timestamp: 1 } as StreamChunk

describe('eventStreamResponse', () => {
  it('sends a comment after silence and none while events flow', async () => {
    const clock = new FakeClock()
    const stores = createMemoryStores({ clock })
    const log = stores.eventLog.open({ runId: 'run-1', offset: OFFSET_START })
    await log.append([chunk])
    const reader = eventStreamResponse(log, { clock, keepAliveMs: 1_000 }).body!.getReader()
    const read = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value)
    expect(await read()).toContain('data: ')
    const silent = read()
    await settled()
    await clock.advance(1_000)
    expect(await silent).toBe(': keep-alive\n\n')
    await log.append([chunk])
    expect(await read()).toContain('data: ')
    await log.close()
  })

  it('tells that the viewer left, ends its read, and leaves no timer', async () => {
    const clock = new FakeClock()
    const stores = createMemoryStores({ clock })
    const log = stores.eventLog.open({ runId: 'run-1', offset: OFFSET_START })
    await log.append([chunk])
    let left = 0
    const response = eventStreamResponse(log, { clock, onViewerLeft: () => (left += 1) })
    const reader = response.body!.getReader()
    await reader.read()
    await reader.cancel()
    expect(left).toBe(1)
    await clock.advance(60_000)
    expect(clock.pending).toBe(0)
  })

  it('breaks the connection when the store fails, instead of telling that the run did', async () => {
    const stores = createMemoryStores()
    const log = stores.eventLog.open({ runId: 'run-1', offset: OFFSET_START })
    await log.append([chunk])
    const failing = {
      runId: log.runId,
      resumeFrom: () => log.resumeFrom(),
      append: (chunks: StreamChunk[]) => log.append(chunks),
      snapshot: () => log.snapshot(),
      close: () => log.close(),
      async *read() {
        for (const entry of await log.snapshot()) yield entry
        throw new StoreError('STORE_UNAVAILABLE', 'The store is away.', { retryable: true })
      },
    }
    const reader = eventStreamResponse(failing, {}).body!.getReader()
    const first = await reader.read()
    expect(new TextDecoder().decode(first.value)).toContain('data: ')
    await expect(reader.read()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  })

  it('asks proxies neither to buffer nor to compress', () => {
    const log = createMemoryStores().eventLog.open({ runId: 'run-1', offset: OFFSET_START })
    const { headers } = eventStreamResponse(log, {})
    expect(headers.get('Cache-Control')).toBe('no-cache, no-transform')
    expect(headers.get('X-Accel-Buffering')).toBe('no')
  })
})
