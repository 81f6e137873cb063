/** What a state of the service means for somebody who wants to use the sandbox. */
export type StateMeaning = 'ready' | 'startable' | 'moving' | 'failed' | 'ending' | 'gone' | 'unclear'

const MEANINGS: Readonly<Record<string, StateMeaning>> = {
  started: 'ready',
  stopped: 'startable',
  archived: 'startable',
  archiving: 'startable',
  paused: 'startable',
  creating: 'moving',
  restoring: 'moving',
  starting: 'moving',
  stopping: 'moving',
  pending_build: 'moving',
  building_snapshot: 'moving',
  pulling_snapshot: 'moving',
  resizing: 'moving',
  snapshotting: 'moving',
  forking: 'moving',
  pausing: 'moving',
  resuming: 'moving',
  // The service's own word for "not placed on a machine yet".
  unknown: 'moving',
  error: 'failed',
  build_failed: 'failed',
  destroying: 'ending',
  destroyed: 'gone',
}

/** A state that this package does not know is `unclear`: it is waited for, and never read as gone. */
export function meaningOf(state: string | undefined): StateMeaning {
  return (state === undefined ? undefined : MEANINGS[state]) ?? 'unclear'
}

/** Whether the sandbox has no running processes in this state. */
export function isAtRest(state: string | undefined): boolean {
  return ['stopped', 'stopping', 'archived', 'archiving', 'paused', 'pausing'].includes(state ?? '')
}
