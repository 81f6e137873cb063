import type { RunSummary } from './api.ts'
import type { RunActivity } from './run-activity.ts'
import type { Hydration } from './use-chat-link.ts'

export type RunStateKind =
  | 'loading'
  | 'unreachable'
  | 'joining'
  | 'starting'
  | 'running'
  | 'reconnecting'
  | 'detached'
  | 'stopping'
  | 'waiting'
  | 'done'
  | 'failed'
  | 'cancelled'
  | 'ready'

export interface RunState {
  kind: RunStateKind
  label: string
  /** A run goes on, here or elsewhere. */
  isActive: boolean
  /** There is something to stop: a run that goes on, or one that waits for a person. */
  canStop: boolean
}

export interface RunStateInput {
  hydration: Pick<Hydration, 'state' | 'joiningRunId' | 'isCrowded'>
  isStreaming: boolean
  isReconnecting: boolean
  isStopping: boolean
  activity: RunActivity
  /** The thread's latest run as the server has it; undefined while it is not known. */
  record: RunSummary | null | undefined
  /** The run whose last event this page has seen. */
  endedRunId: string | null
  /** The run whose questions this page holds. */
  waitingRunId: string | null
}

const CATCHING_UP = 'Running. Catching up…'
const WAITING = 'Waiting for your decision'

const STARTING: Readonly<Record<string, string>> = {
  waiting: 'waiting for its turn',
  resuming: 'resuming',
  restoring: 'restoring',
  creating: 'creating',
  source: 'fetching sources',
  setup: 'running set-up',
  projecting: 'writing instructions',
  snapshotting: 'saving an image',
}

/** One true sentence about the thread's run, from what the stream tells while there is one and from the record else. */
export function runState(input: RunStateInput): RunState {
  const { record, endedRunId, hydration } = input
  const isRecordActive = record?.status === 'running' && record.runId !== endedRunId
  const isJoining = isRunAhead(hydration.joiningRunId, input)
  const isActive = input.isStreaming || isJoining || isRecordActive
  const isWaiting = !isActive && isAsked(input)
  if (input.isStopping && (isActive || isWaiting)) return active('stopping', 'Stopping…')
  if (input.isStreaming) return streaming(input)
  if (isJoining && hydration.isCrowded === true) return active('detached', 'Running. Other tabs show it live')
  if (isJoining) return active('joining', CATCHING_UP)
  if (isRecordActive) return active('detached', 'Detached: the run goes on without this page')
  if (isWaiting) return { ...settled('waiting', WAITING), canStop: true }
  if (hydration.state === 'failed') return settled('unreachable', 'The thread could not be loaded')
  if (hydration.state === 'pending' || record === undefined) return settled('loading', 'Loading the thread…')
  return ended(input)
}

/** Whether a run that was about to be joined may still go on. */
function isRunAhead(runId: string | null, { record, endedRunId }: RunStateInput): boolean {
  if (runId === null || runId === endedRunId) return false
  return record?.runId !== runId || record.status === 'running'
}

/** A run that ended otherwise, in another tab, asks nothing any more. */
function isAsked({ waitingRunId, record }: RunStateInput): boolean {
  if (waitingRunId === null) return false
  return record?.runId !== waitingRunId || record.status === 'interrupted' || record.status === 'running'
}

function streaming({ isReconnecting, activity }: RunStateInput): RunState {
  if (isReconnecting) return active('reconnecting', 'Reconnecting. The run goes on')
  if (activity.isCatchingUp) return active('joining', CATCHING_UP)
  const { sandbox } = activity
  if (sandbox?.phase === 'ready') return active('running', 'Running')
  const detail = sandbox === null ? undefined : (STARTING[sandbox.phase] ?? sandbox.phase)
  return active('starting', detail === undefined ? 'Starting sandbox…' : `Starting sandbox: ${detail}…`)
}

function ended({ record, activity, endedRunId }: RunStateInput): RunState {
  const isSameRun = endedRunId !== null && (record == null || record.runId === endedRunId)
  const end = (isSameRun ? activity.end : null) ?? endOfRecord(record ?? null)
  switch (end) {
    case 'done':
      return settled('done', 'Done')
    case 'cancelled':
      return settled('cancelled', 'Cancelled')
    case 'waiting':
      return settled('waiting', WAITING)
    case 'failed':
      return settled('failed', failedLabel((isSameRun ? activity.reason : null) ?? record?.error?.message))
    case null:
      return settled('ready', 'Ready')
  }
}

function endOfRecord(record: RunSummary | null): RunActivity['end'] {
  switch (record?.status) {
    case 'completed':
      return 'done'
    case 'failed':
      return 'failed'
    case 'aborted':
      return 'cancelled'
    case 'interrupted':
      return 'waiting'
    case 'running':
    case undefined:
      return null
  }
}

function failedLabel(reason: string | undefined): string {
  return reason === undefined ? 'Failed' : `Failed: ${reason}`
}

function active(kind: RunStateKind, label: string): RunState {
  return { kind, label, isActive: true, canStop: true }
}

function settled(kind: RunStateKind, label: string): RunState {
  return { kind, label, isActive: false, canStop: false }
}
