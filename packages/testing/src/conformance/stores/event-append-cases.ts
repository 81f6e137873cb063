import assert from 'node:assert/strict'
import { OFFSET_START } from '@holdfast/core'
import type { StreamChunk } from '@tanstack/ai'
import { customChunk, readAll, textChunk, textChunks, textOf, textsOf } from './event-chunks.ts'
import { rejectsWith } from './rejects-with.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'

/** JSON that is easy to damage on the way through a database or a careless copy. */
const DELICATE = [
  { nul: 'a\0b', lone: '\ud800', reversed: '\udc00\ud800', literal: '\\u0000 \\ud800', emoji: '😀' },
  { z: 1, a: 2, 10: 3, 9: 4 },
  JSON.parse('{"__proto__": {"polluted": true}, "": "empty key", "constructor": null}'),
  { quotes: '"\\\'`', lines: '\r\n\u2028\u2029', control: '\u0001\u001f\u007f' },
  [[], {}, null, true, false, '', 0, 1e21, 1e-7, 0.1, Number.MAX_SAFE_INTEGER, Number.MIN_VALUE],
  'plain text',
  null,
]

function cyclic(): unknown {
  const value: Record<string, unknown> = {}
  value['self'] = value
  return value
}

/** Each of these would be changed in silence by JSON. */
const LOSSY: readonly (readonly [what: string, value: unknown])[] = [
  ['NaN', Number.NaN],
  ['1e400', Number('1e400')],
  ['-Infinity', { deep: [Number.NEGATIVE_INFINITY] }],
  ['a bigint', 1n],
  ['a function', () => 1],
  ['a symbol', Symbol('symbol')],
  ['an undefined element', [1, undefined]],
  ['a cycle', cyclic()],
]

export const eventAppendCases: readonly StoreCase[] = [
  storeCase(
    'log.append.one-offset-per-chunk',
    'append gives one offset per chunk, each safe on an SSE line',
    async ({ stores }) => {
      const log = stores.eventLog.open({ runId: 'run-1' })
      const offsets = [...(await log.append(textChunks(3))), ...(await log.append(textChunks(2)))]
      assert.equal(new Set(offsets).size, 5)
      for (const offset of offsets) {
        assert.match(offset, /^[\x21-\x7e]+$/, 'visible ASCII')
        assert.ok(offset !== '-1' && offset !== 'now', 'not a word of its own')
      }
    },
  ),
  storeCase(
    'log.append.keeps-order',
    'events are kept in the order in which they were appended',
    async ({ stores }) => {
      const log = stores.eventLog.open({ runId: 'run-1' })
      const texts: string[] = []
      const offsets: string[] = []
      for (let batch = 0; batch < 12; batch += 1) {
        const chunks = textChunks(batch, `${batch}/`)
        texts.push(...chunks.map(textOf))
        offsets.push(...(await log.append(chunks)))
      }
      const entries = await log.snapshot()
      assert.deepEqual(textsOf(entries), texts)
      assert.deepEqual(
        entries.map(({ offset }) => offset),
        offsets,
      )
    },
  ),
  storeCase(
    'log.append.empty-batch',
    'an empty batch is fine, gives no offsets and stores nothing',
    async ({ stores }) => {
      const log = stores.eventLog.open({ runId: 'run-1' })
      assert.deepEqual(await log.append([]), [])
      assert.equal(await stores.eventLog.find('run-1'), null)
    },
  ),
  storeCase('log.append.large-batch', 'a batch of 1,000 events is one step', async ({ stores }) => {
    const log = stores.eventLog.open({ runId: 'run-1' })
    const offsets = await log.append(textChunks(1_000))
    assert.equal(new Set(offsets).size, 1_000)
    assert.deepEqual(textsOf(await log.snapshot()), textChunks(1_000).map(textOf))
  }),
  storeCase(
    'log.append.exact-json',
    'chunks come back with the same JSON text they went in with',
    async ({ stores }) => {
      const log = stores.eventLog.open({ runId: 'run-1' })
      const chunks = DELICATE.map(customChunk)
      await log.append(chunks)
      await log.close()
      for (const entries of [await log.snapshot(), await readAll(log, OFFSET_START)]) {
        assert.deepEqual(
          entries.map(({ chunk }) => JSON.stringify(chunk)),
          chunks.map((chunk) => JSON.stringify(chunk)),
        )
      }
    },
  ),
  storeCase(
    'log.append.is-not-a-json-string',
    'a chunk comes back as an object, not as its text',
    async ({ stores }) => {
      const log = stores.eventLog.open({ runId: 'run-1' })
      await log.append([customChunk({ nested: { list: [1] } })])
      assert.deepEqual((await log.snapshot())[0]?.chunk, customChunk({ nested: { list: [1] } }))
    },
  ),
  storeCase('log.append.10-mb', 'a chunk of 10 MB is kept', async ({ stores }) => {
    const log = stores.eventLog.open({ runId: 'run-1' })
    const text = 'ä😀\0x'.repeat(1_000_000)
    await log.append([textChunk(text), textChunk('after')])
    const [large, after] = textsOf(await log.snapshot())
    assert.ok(large === text, 'the text is the same')
    assert.equal(after, 'after')
  }),
  storeCase(
    'log.append.lossy-is-refused',
    'what JSON cannot keep is refused with INVALID_CHUNK',
    async ({ stores }) => {
      const log = stores.eventLog.open({ runId: 'run-1' })
      for (const [what, value] of LOSSY)
        await rejectsWith('INVALID_CHUNK', () => log.append([customChunk(value)]), what)
      assert.deepEqual(await log.snapshot(), [])
    },
  ),
  storeCase('log.append.all-or-nothing', 'a batch with one bad chunk stores nothing', async ({ stores }) => {
    const log = stores.eventLog.open({ runId: 'run-1' })
    await log.append([textChunk('first')])
    const batch = [textChunk('good'), customChunk(Number.NaN), textChunk('good too')]
    await rejectsWith('INVALID_CHUNK', () => log.append(batch))
    await log.append([textChunk('second')])
    assert.deepEqual(textsOf(await log.snapshot()), ['first', 'second'])
  }),
  storeCase('log.append.copies', 'chunks are copies on the way in and out', async ({ stores }) => {
    const log = stores.eventLog.open({ runId: 'run-1' })
    const chunk = { type: 'CUSTOM', name: 'case', value: { text: 'as given' } }
    await log.append([chunk as StreamChunk])
    chunk.value.text = 'changed after'
    const [entry] = await log.snapshot()
    assert.deepEqual(entry?.chunk, customChunk({ text: 'as given' }))
    Reflect.get(entry?.chunk ?? {}, 'value').text = 'changed by a reader'
    assert.deepEqual((await log.snapshot())[0]?.chunk, customChunk({ text: 'as given' }))
  }),
  storeCase('log.append.own-run-only', 'logs of different runs do not mix', async ({ stores }) => {
    for (const runId of ['run-1', 'run-10', 'Run-1']) await stores.eventLog.open({ runId }).append([textChunk(runId)])
    for (const runId of ['run-1', 'run-10', 'Run-1']) {
      assert.deepEqual(textsOf(await stores.eventLog.open({ runId }).snapshot()), [runId])
    }
  }),
]
