import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { StreamChunk } from '@tanstack/ai'
import { describe, expect, it } from 'vitest'
import { chatFixture, startChat } from '../../fixtures/chat-fixture.ts'
import { settled } from '../../fixtures/gate.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const CHUNKS = 100

describe('a run with many events', () => {
  it('keeps none of those that are stored', async () => {
    const { run } = await startChat(chatFixture(), { turns: [] })
    const given: WeakRef<StreamChunk>[] = []
    let held = CHUNKS
    async function* stream(): AsyncGenerator<StreamChunk> {
      for (let index = 0; index < CHUNKS; index += 1) {
        const chunk = { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: `word ${index} `, timestamp: 1 }
        given.push(new WeakRef(chunk as StreamChunk))
        yield chunk as StreamChunk
      }
      await settled()
      collectGarbage()
      held = given.filter((ref) => ref.deref() !== undefined).length
    }
    await run.drive(stream())
    expect(held).toBeLessThan(CHUNKS / 10)
  })
})
