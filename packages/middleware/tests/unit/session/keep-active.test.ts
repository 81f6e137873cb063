import { createMemoryStores } from '@holdfast/core'
import type { SandboxHandle } from '@holdfast/core'
import { FakeClock, processProvider } from '@holdfast/testing'
import { describe, expect, it } from 'vitest'
import { REFRESH_EVERY_MS } from '../../../src/session/steps/keep-active.ts'
import { eventsOf } from '../../fixtures/chat-fixture.ts'
import { gate, settled } from '../../fixtures/gate.ts'
import { routesFixture } from '../../fixtures/routes-fixture.ts'

describe('a run that holds a sandbox', () => {
  it('keeps it awake while its agent is quiet, and not after', async () => {
    const clock = new FakeClock()
    const held = gate()
    let refreshes = 0
    const inner = processProvider()
    const counting = (handle: SandboxHandle): SandboxHandle => ({
      ...handle,
      refreshActivity: async () => void (refreshes += 1),
    })
    const provider = {
      ...inner,
      create: async (input: Parameters<typeof inner.create>[0]) => counting(await inner.create(input)),
    }
    const fixture = await routesFixture({
      turns: [[{ say: 'hm' }, { wait: () => held.opened }]],
      stores: createMemoryStores({ clock }),
      routes: { clock },
      definition: { provider },
    })
    const response = await fixture.send('run-1')
    while (fixture.model.seen.length === 0) await settled(5)
    for (let minute = 0; minute < 20; minute += 1) await clock.advance(60_000)
    expect(refreshes).toBeGreaterThanOrEqual((20 * 60_000) / REFRESH_EVERY_MS - 1)
    held.open()
    await eventsOf(response)
    const after = refreshes
    for (let minute = 0; minute < 60; minute += 1) await clock.advance(60_000)
    expect(refreshes).toBe(after)
    await inner.destroy({ id: (await inner.list?.({ labels: {} }))?.[0]?.sandboxId ?? 'none' })
  })
})
