import { createMemoryStores } from '@holdfast/core'
import type { HoldfastStores } from '@holdfast/core'
import { describe, expect, it } from 'vitest'
import { answerPauses, giveUpPauses } from '../../../src/persistence/answer-pauses.ts'

const threadId = 'thread-1'

async function waitingRun(): Promise<HoldfastStores> {
  const stores = createMemoryStores()
  const { epoch } = await stores.drivers.claim({ runId: 'run-1', threadId, owner: 'first', ttlMs: 1_000 })
  await stores.interrupts.create({ interruptId: 'ask-1', runId: 'run-1', threadId, requestedAt: 1, payload: {} })
  await stores.drivers.finish({ runId: 'run-1', epoch, status: 'interrupted' })
  return stores
}

/** The same stores for a host that dies with its first write, which takes effect. */
function dying(stores: HoldfastStores): HoldfastStores {
  const over = <T extends object>(store: T, names: readonly string[]): T =>
    new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        const call = value.bind(target) as (...args: unknown[]) => Promise<unknown>
        if (!names.includes(String(name))) return call
        return async (...args: unknown[]) => {
          await call(...args)
          throw new Error('The host is gone.')
        }
      },
    })
  return {
    ...stores,
    interrupts: over(stores.interrupts, ['resolve', 'cancel']),
    runs: over(stores.runs, ['update']),
  }
}

async function giveUpAll(stores: HoldfastStores, runId: string): Promise<void> {
  await giveUpPauses({ stores, threadId, runId, now: 2 }, await stores.interrupts.listPending(threadId))
}

describe('a pause whose answer is stored by halves', () => {
  const halves: [string, (stores: HoldfastStores) => Promise<void>][] = [
    [
      'an answer',
      (stores) =>
        answerPauses({ stores, threadId, runId: 'run-2', now: 2 }, [
          { interruptId: 'ask-1', status: 'resolved', payload: { approved: true } },
        ]),
    ],
    ['a message in its place', (stores) => giveUpAll(stores, 'run-2')],
  ]
  it.each(halves)('is over with the next message when a host dies in the middle of %s', async (_what, half) => {
    const stores = await waitingRun()
    await expect(half(dying(stores))).rejects.toThrow('The host is gone.')
    await giveUpAll(stores, 'run-3')
    expect(await stores.interrupts.listPending(threadId)).toEqual([])
    expect((await stores.runs.get('run-1'))?.status).not.toBe('interrupted')
  })
})
