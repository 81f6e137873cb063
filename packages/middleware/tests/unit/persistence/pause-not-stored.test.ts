import { StoreError } from '@holdfast/core'
import type { HoldfastStores } from '@holdfast/core'
import { memoryProvider } from '@holdfast/testing'
import { describe, expect, it } from 'vitest'
import { defineSandbox } from '../../../src/definition/define-sandbox.ts'
import { withSandbox } from '../../../src/session/with-sandbox.ts'
import { sandboxTools } from '../../../src/tools/sandbox-tools.ts'
import { chatFixture, chatRequest, startChat } from '../../fixtures/chat-fixture.ts'

const policy = { default: 'allow', commands: { ask: ['touch *'] } } as const
const ASKS = [{ call: 'bash', args: { command: 'touch made' } }]

/** Runs one message on a store whose first `failures` questions are not stored. */
async function asked(failures: number): Promise<{ stores: HoldfastStores; say: (runId: string) => Promise<void> }> {
  const { stores: memory, clock } = chatFixture()
  let left = failures
  const interrupts = new Proxy(memory.interrupts, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      const call = value.bind(target) as (...args: unknown[]) => Promise<unknown>
      if (name !== 'create') return call
      return async (...args: unknown[]) => {
        left -= 1
        if (left >= 0) throw new StoreError('STORE_UNAVAILABLE', 'The store is away.', { retryable: true })
        return call(...args)
      }
    },
  })
  const stores = { ...memory, interrupts }
  const sandbox = defineSandbox({ id: 'test', provider: memoryProvider(), policy })
  const say = async (
    runId: string,
    turns: Parameters<typeof startChat>[1]['turns'] = [[{ say: 'ok' }]],
  ): Promise<void> => {
    const { run, stream } = await startChat(
      { stores, clock },
      {
        turns,
        request: chatRequest(runId, runId),
        tools: sandboxTools(),
        middleware: (of) => [withSandbox(sandbox, { run: of })],
      },
    )
    const driven = run.drive(stream)
    let isOver = false
    void run.session.ended.then(() => (isOver = true))
    while (!isOver) await clock.advance(1_000)
    await driven
  }
  await say('run-1', [ASKS, [{ say: 'ok' }]])
  return { stores, say }
}

describe('a run that pauses while the store is away', () => {
  it('waits for its answer once the store is back', async () => {
    const { stores } = await asked(2)
    expect(await stores.runs.get('run-1')).toMatchObject({ status: 'interrupted' })
    expect(await stores.interrupts.listPending('thread-1')).toHaveLength(1)
  })

  it('fails when its question cannot be stored, and the thread takes the next message', async () => {
    const { stores, say } = await asked(100)
    expect(await stores.runs.get('run-1')).toMatchObject({ status: 'failed' })
    await say('run-2')
    expect(await stores.runs.get('run-2')).toMatchObject({ status: 'completed' })
    const roles = (await stores.messages.loadThread('thread-1')).map(({ role }) => role)
    expect(roles).toEqual(['user', 'assistant', 'tool', 'user', 'assistant'])
  })
})
