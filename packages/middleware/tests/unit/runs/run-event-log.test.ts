import { StoreError } from '@holdfast/core'
import type { EventLog, HoldfastStores } from '@holdfast/core'
import { toServerSentEventsResponse } from '@tanstack/ai'
import { describe, expect, it } from 'vitest'
import { cancelRun } from '../../../src/runs/cancel-run.ts'
import { chatFixture, eventsOf, startChat, storedChunks, terminalsOf, textOf } from '../../fixtures/chat-fixture.ts'
import type { StartedChat } from '../../fixtures/chat-fixture.ts'
import { settled } from '../../fixtures/gate.ts'

/** As TanStack's route answers with a run that `beginRun` has claimed. */
function respond({ run, stream }: StartedChat): Response {
  return toServerSentEventsResponse(stream, { durability: { adapter: run.eventLog, batch: 1 }, debug: false })
}

/** Stores that lose the connection at one append of a driver, before or after it took effect. */
function losingConnection(stores: HoldfastStores, nth: number, moment: 'before' | 'after'): HoldfastStores {
  const { eventLog } = stores
  const lost = new StoreError('STORE_OUTCOME_UNKNOWN', 'The connection was lost.')
  let appends = 0
  const open: typeof eventLog.open = (input) => {
    const log = eventLog.open(input)
    const append: EventLog['append'] = async (chunks) => {
      appends += 1
      if (appends !== nth) return log.append(chunks)
      if (moment === 'after') await log.append(chunks)
      throw lost
    }
    return Object.assign(Object.create(log) as EventLog, {
      append,
      snapshot: () => log.snapshot(),
      close: () => log.close(),
    })
  }
  return {
    ...stores,
    eventLog: Object.assign(Object.create(eventLog) as typeof eventLog, {
      open,
      find: (runId: string) => eventLog.find(runId),
    }),
  }
}

describe('the log of a claimed run in TanStack’s response', () => {
  it('ends the run once, with the viewer’s positions those of the log', async () => {
    const fixture = chatFixture()
    const events = await eventsOf(respond(await startChat(fixture, { turns: [[{ say: 'hel' }, { say: 'lo' }]] })))
    const stored = await fixture.stores.eventLog.open({ runId: 'run-1' }).snapshot()
    expect(events.map(({ id }) => id)).toEqual(stored.map(({ offset }) => offset))
    expect(terminalsOf(stored.map(({ chunk }) => chunk))).toEqual(['RUN_FINISHED'])
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
  })

  for (const moment of ['before', 'after'] as const) {
    it(`loses and doubles nothing when the connection is lost ${moment} an append took effect`, async () => {
      const fixture = chatFixture()
      const host = { ...fixture, stores: losingConnection(fixture.stores, 4, moment) }
      const text = respond(await startChat(host, { turns: [[{ say: 'a' }, { say: 'b' }, { say: 'c' }]] }))
      const ended = eventsOf(text)
      await settled()
      await fixture.clock.advance(10_000)
      const events = await ended
      const stored = await fixture.stores.eventLog.open({ runId: 'run-1' }).snapshot()
      expect(textOf(stored.map(({ chunk }) => chunk))).toBe('abc')
      expect(events.map(({ id }) => id)).toEqual(stored.map(({ offset }) => offset))
      expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
    })
  }

  it('ends a cancelled run whose model never notices, with one terminal', async () => {
    const fixture = chatFixture()
    const chat = await startChat(fixture, { turns: [[{ say: 'a' }, { wait: () => new Promise(() => undefined) }]] })
    void respond(chat)
    await settled()
    await cancelRun({ stores: fixture.stores, runId: 'run-1', clock: fixture.clock })
    await fixture.clock.advance(1_000)
    await chat.run.session.ended
    const stored = await storedChunks(fixture.stores, 'run-1')
    expect(terminalsOf(stored)).toEqual(['RUN_ERROR'])
    expect(stored.at(-1)).toMatchObject({ code: 'RUN_CANCELLED' })
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
  })
})
