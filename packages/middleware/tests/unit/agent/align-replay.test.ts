import type { StreamChunk } from '@tanstack/ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { alignReplay } from '../../../src/agent/align-replay.ts'

const chunk = (fields: object, timestamp = 1): StreamChunk => ({ timestamp, ...fields }) as StreamChunk
const started = (threadId = 'thread-1'): StreamChunk => chunk({ type: 'RUN_STARTED', runId: 'run-1', threadId })
const text = (delta: string, timestamp = 1): StreamChunk =>
  chunk({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'run-1-1', delta }, timestamp)
const custom = (name: string): StreamChunk => chunk({ type: 'CUSTOM', name, value: {} })

async function* streamOf(chunks: readonly StreamChunk[]): AsyncGenerator<StreamChunk> {
  yield* chunks
}

async function align(replay: readonly StreamChunk[], stored: readonly StreamChunk[]): Promise<StreamChunk[]> {
  const passed: StreamChunk[] = []
  for await (const each of alignReplay(streamOf(replay), stored)) passed.push(each)
  return passed
}

const later = (chunks: readonly StreamChunk[]): StreamChunk[] => chunks.map((each) => ({ ...each, timestamp: 99 }))

describe('alignReplay', () => {
  it('refuses a replay that differs, and names the event and both fingerprints', async () => {
    const stored = [started(), custom('sandbox.status'), text('a'), text('b')]
    const failure: unknown = await align([started(), text('a'), text('c')], stored).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'REPLAY_DIVERGED', details: { index: 3 } })
    const { expected, actual } = Reflect.get(failure as object, 'details') as { expected: string; actual: string }
    expect(expected).toMatch(/^TEXT_MESSAGE_CONTENT:[0-9a-f]+$/)
    expect(actual).toMatch(/^TEXT_MESSAGE_CONTENT:[0-9a-f]+$/)
    expect(actual).not.toBe(expected)
    expect(String(Reflect.get(failure as object, 'message'))).toContain(expected)
  })

  it('refuses a replay of another thread with a code of its own', async () => {
    await expect(align([started('thread-2')], [started('thread-1')])).rejects.toMatchObject({
      code: 'REPLAY_WRONG_THREAD',
    })
  })

  it('refuses a replay that ends before the log does', async () => {
    await expect(align([started()], [started(), text('a')])).rejects.toMatchObject({ code: 'REPLAY_DIVERGED' })
    await expect(align([], [text('a')])).rejects.toMatchObject({ code: 'REPLAY_DIVERGED' })
    expect(await align([started()], [started(), custom('sandbox.file')])).toEqual([])
  })

  it('looks at nested values, whatever the order of fields, and not at times', async () => {
    const call = (args: unknown): StreamChunk => chunk({ type: 'STATE_SNAPSHOT', snapshot: args })
    const stored = [call({ a: 1, b: { c: [1, { d: 2 }] } })]
    expect(await align([call({ b: { c: [1, { d: 2 }] }, a: 1 })], stored)).toEqual([])
    await expect(align([call({ a: 1, b: { c: [1, { d: 3 }] } })], stored)).rejects.toMatchObject({
      code: 'REPLAY_DIVERGED',
    })
    expect(await align([text('a', 7)], [text('a', 3)])).toEqual([])
  })

  it('takes a field that is explicitly undefined for what the log makes of it, and refuses what no log can keep', async () => {
    expect(
      await align(
        [chunk({ type: 'STATE_SNAPSHOT', snapshot: { a: undefined } })],
        [chunk({ type: 'STATE_SNAPSHOT', snapshot: {} })],
      ),
    ).toEqual([])
    await expect(
      align(
        [chunk({ type: 'STATE_SNAPSHOT', snapshot: [undefined] })],
        [chunk({ type: 'STATE_SNAPSHOT', snapshot: [] })],
      ),
    ).rejects.toMatchObject({ code: 'INVALID_CHUNK' })
    await expect(
      align(
        [chunk({ type: 'STATE_SNAPSHOT', snapshot: { a: null } })],
        [chunk({ type: 'STATE_SNAPSHOT', snapshot: {} })],
      ),
    ).rejects.toMatchObject({ code: 'REPLAY_DIVERGED' })
  })

  it('skips stored events that only the first host could tell, but no more than 64 in a row', async () => {
    const some = Array.from({ length: 64 }, () => custom('sandbox.file'))
    expect(await align([text('a'), text('b')], [...some, text('a'), ...some])).toEqual([text('b')])
    const failure = align([text('a')], [...some, custom('sandbox.file'), text('a')])
    await expect(failure).rejects.toMatchObject({ code: 'REPLAY_DIVERGED' })
  })

  it('passes what this host tells of itself, and drops a custom event that the log has', async () => {
    const stored = [custom('run.accepted'), started(), custom('agent.progress'), text('a')]
    const replay = [custom('sandbox.resumed'), started(), custom('agent.progress'), text('a'), text('b')]
    expect(await align(replay, stored)).toEqual([custom('sandbox.resumed'), text('b')])
  })

  it('completes a log that was cut anywhere to the log of an undisturbed run', async () => {
    const event = fc.oneof(
      fc.string({ maxLength: 3 }).map((delta) => text(delta)),
      fc.constantFrom('agent.progress', 'agent.output').map(custom),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 30 }), fc.nat(31), async (events, cut) => {
        const whole = [started(), ...events]
        const stored = whole.slice(0, cut)
        const rest = await align(later(whole), stored)
        const log = [...stored, ...rest]
          .filter((each) => each.type !== 'CUSTOM')
          .map((each) => ({ ...each, timestamp: 0 }))
        expect(log).toEqual(whole.filter((each) => each.type !== 'CUSTOM').map((each) => ({ ...each, timestamp: 0 })))
      }),
    )
  })
})
