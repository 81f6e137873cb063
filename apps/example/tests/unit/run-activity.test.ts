import type { StreamChunk } from '@tanstack/ai/client'
import { expect, test } from 'vitest'
import { NO_ACTIVITY, runActivity } from '../../lib/client/run-activity.ts'
import type { RunActivity } from '../../lib/client/run-activity.ts'

const custom = (name: string, value: unknown): StreamChunk => ({ type: 'CUSTOM', name, value }) as StreamChunk
const output = (chunk: string, stream = 'stdout'): StreamChunk =>
  custom(`process.${stream}`, { processId: 'call-1', chunk })

function after(chunks: readonly StreamChunk[], from: RunActivity = NO_ACTIVITY): RunActivity {
  return chunks.reduce((state, chunk) => runActivity(state, { type: 'chunk', chunk }), from)
}

test('a replay shows output once, however often it comes', () => {
  const chunks = [output('a\n'), output('b\n'), output('oh\n', 'stderr'), output('c\n')]
  const once = after(chunks)
  const again = after(chunks, runActivity(once, { type: 'replay' }))
  expect(again.outputs).toEqual(once.outputs)
  expect(once.outputs['call-1']).toEqual([
    { from: 'stdout', text: 'a\nb\n' },
    { from: 'stderr', text: 'oh\n' },
    { from: 'stdout', text: 'c\n' },
  ])
})

test("a turn's end is not the run's end when more events follow", () => {
  const turnEnd = { type: 'RUN_FINISHED', runId: 'r', threadId: 't' } as StreamChunk
  const call = { type: 'TOOL_CALL_START', toolCallId: 'call-2', toolCallName: 'bash' } as StreamChunk
  expect(after([turnEnd]).end).toBe('done')
  expect(after([turnEnd, call]).end).toBeNull()
})

test('a cancelled run is not a failed one', () => {
  const error = (code: string): StreamChunk => ({ type: 'RUN_ERROR', message: 'It stopped.', code }) as StreamChunk
  expect(after([error('RUN_CANCELLED')])).toMatchObject({ end: 'cancelled', reason: null })
  expect(after([error('HOST_LOST')])).toMatchObject({ end: 'failed', reason: 'It stopped.' })
})

test('a change and its diff are one entry, with the path as the listing has it', () => {
  const state = after([
    custom('sandbox.file', { type: 'create', path: '/workspace/src/a.ts' }),
    custom('sandbox.file.diff', { type: 'create', path: '/workspace/src/a.ts', diff: '@@\n+a\n' }),
  ])
  expect(state.changes).toEqual({ 'src/a.ts': { change: 'create', diff: '@@\n+a\n' } })
})

test('output without an end stays within bounds', () => {
  const state = after(Array.from({ length: 50 }, () => output('x'.repeat(10_000))))
  expect(state.outputs['call-1']?.[0]?.text.length).toBeLessThanOrEqual(100_000)
})

test('events that are not as expected do no harm', () => {
  const odd = [custom('process.stdout', null), custom('sandbox.file', 7), custom('sandbox.status', { phase: 3 })]
  expect(() => after(odd)).not.toThrow()
})
