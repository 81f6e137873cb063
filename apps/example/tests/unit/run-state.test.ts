import { expect, test } from 'vitest'
import type { RunSummary } from '../../lib/client/api.ts'
import { NO_ACTIVITY } from '../../lib/client/run-activity.ts'
import { runState } from '../../lib/client/run-state.ts'
import type { RunStateInput } from '../../lib/client/run-state.ts'

const RUNNING: RunSummary = { runId: 'run-1', threadId: 't', status: 'running', startedAt: 1 }
const QUIET: RunStateInput = {
  hydration: { state: 'ready', joiningRunId: null },
  isStreaming: false,
  isReconnecting: false,
  isStopping: false,
  activity: NO_ACTIVITY,
  record: null,
  endedRunId: null,
  waitingRunId: null,
}

test.each<[string, Partial<RunStateInput>, string]>([
  ['a thread that is not loaded is loading', { hydration: { state: 'pending', joiningRunId: null } }, 'loading'],
  ['a thread whose record is not known is loading', { record: undefined }, 'loading'],
  ['a run that is about to be joined is active', { hydration: { state: 'ready', joiningRunId: 'run-1' } }, 'joining'],
  [
    'a run that other tabs hold all streams of goes on without this page',
    { hydration: { state: 'ready', joiningRunId: 'run-1', isCrowded: true } },
    'detached',
  ],
  [
    'a joined run without an event is catching up',
    { isStreaming: true, activity: { ...NO_ACTIVITY, isCatchingUp: true } },
    'joining',
  ],
  ['a run without a sandbox is starting', { isStreaming: true }, 'starting'],
  [
    'a run whose sandbox is ready is running',
    { isStreaming: true, activity: { ...NO_ACTIVITY, sandbox: { phase: 'ready' } } },
    'running',
  ],
  ['a stream that broke off is reconnecting', { isStreaming: true, isReconnecting: true }, 'reconnecting'],
  ['a run that goes on without a stream is detached', { record: RUNNING }, 'detached'],
  [
    'also when the thread could not be loaded',
    { record: RUNNING, hydration: { state: 'failed', joiningRunId: null } },
    'detached',
  ],
  ['a run that is asked to end is stopping', { record: RUNNING, isStopping: true }, 'stopping'],
  [
    'a record that lags behind the last event is not believed',
    { record: RUNNING, endedRunId: 'run-1', activity: { ...NO_ACTIVITY, end: 'cancelled' } },
    'cancelled',
  ],
  [
    'a newer run than the one that ended here is active',
    { record: { ...RUNNING, runId: 'run-2' }, endedRunId: 'run-1' },
    'detached',
  ],
  [
    'a newer run that ended elsewhere tells its own end',
    {
      record: { ...RUNNING, runId: 'run-2', status: 'failed' },
      endedRunId: 'run-1',
      activity: { ...NO_ACTIVITY, end: 'done' },
    },
    'failed',
  ],
  [
    'a run that was to be joined and has ended is over',
    { hydration: { state: 'ready', joiningRunId: 'run-1' }, record: { ...RUNNING, status: 'completed' } },
    'done',
  ],
  ['a completed record is done', { record: { ...RUNNING, status: 'completed' } }, 'done'],
  ['an aborted record is cancelled', { record: { ...RUNNING, status: 'aborted' } }, 'cancelled'],
  ['an interrupted record waits', { record: { ...RUNNING, status: 'interrupted' } }, 'waiting'],
  [
    'a page that holds a question waits, before it knows the record',
    { record: undefined, waitingRunId: 'run-1' },
    'waiting',
  ],
  [
    'also when something else was saved meanwhile',
    { record: { ...RUNNING, runId: 'save', status: 'completed' }, waitingRunId: 'run-1' },
    'waiting',
  ],
  [
    'a question that was answered elsewhere is not asked any more',
    { record: { ...RUNNING, runId: 'run-2' }, waitingRunId: 'run-1' },
    'detached',
  ],
  [
    'nor is one whose run was stopped elsewhere',
    { record: { ...RUNNING, status: 'aborted' }, waitingRunId: 'run-1' },
    'cancelled',
  ],
  ['a waiting run that is asked to end is stopping', { waitingRunId: 'run-1', isStopping: true }, 'stopping'],
  ['a thread without runs is ready', {}, 'ready'],
])('%s', (_, input, kind) => {
  expect(runState({ ...QUIET, ...input }).kind).toBe(kind)
})

test('a failed run says why', () => {
  const record: RunSummary = { ...RUNNING, status: 'failed', error: { message: 'The model is gone.' } }
  expect(runState({ ...QUIET, record }).label).toBe('Failed: The model is gone.')
})

test('a run that waits for a person can be stopped, though nothing goes on', () => {
  expect(runState({ ...QUIET, waitingRunId: 'run-1' })).toMatchObject({ canStop: true, isActive: false })
})
