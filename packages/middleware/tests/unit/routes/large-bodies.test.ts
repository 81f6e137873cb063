import { createMemoryStores } from '@holdfast/core'
import { memoryProvider } from '@holdfast/testing'
import { describe, expect, it } from 'vitest'
import { defineSandbox } from '../../../src/definition/define-sandbox.ts'
import { createChatRoutes } from '../../../src/routes/create-chat-routes.ts'
import { scriptedModel } from '../../fixtures/scripted-model.ts'

const MAX_MEBIBYTES = 16

/** A body that would never end, and how much of it was taken. */
function endless(): { body: ReadableStream<Uint8Array>; takenMebibytes: () => number; wasLetGo: () => boolean } {
  let taken = 0
  let wasLetGo = false
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      taken += 1
      if (taken > MAX_MEBIBYTES) controller.error(new Error('Too much was read.'))
      else controller.enqueue(new Uint8Array(1024 * 1024).fill(0x20))
    },
    cancel() {
      wasLetGo = true
    },
  })
  return { body, takenMebibytes: () => taken, wasLetGo: () => wasLetGo }
}

describe('a request body that does not end', () => {
  const paths = ['/chat', '/runs/run-1/cancel', '/threads/thread-1/checkpoints']
  it.each(paths)('is refused at %s, and no more of it is read', async (path) => {
    const stores = createMemoryStores()
    const sandbox = defineSandbox({ id: 'test', provider: memoryProvider() })
    const model = scriptedModel([])
    const routes = createChatRoutes({ stores, sandbox, model: () => model.adapter, checkpoints: {} })
    await stores.threads.ensure({ threadId: 'thread-1', ownerId: 'local' })
    await stores.drivers.claim({ runId: 'run-1', threadId: 'thread-1', owner: 'other', ttlMs: 60_000 })
    const { body, takenMebibytes, wasLetGo } = endless()
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' }
    const response = await routes.handle(new Request(`http://localhost/api${path}`, init))
    expect(response.status).toBe(413)
    expect(takenMebibytes()).toBeLessThan(8)
    expect(wasLetGo()).toBe(true)
  })
})
