import initial from './0000-initial.ts'
import functions from './0001-functions.ts'
import unsettledInstances from './0002-unsettled-instances.ts'
import eventLists from './0003-event-lists.ts'

export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
}

/** In order. A released migration never changes; a new one is added at the end. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: 'initial', sql: initial },
  { version: 2, name: 'functions', sql: functions },
  { version: 3, name: 'unsettled_instances', sql: unsettledInstances },
  { version: 4, name: 'event_lists', sql: eventLists },
]
