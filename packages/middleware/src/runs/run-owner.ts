import { hostname } from 'node:os'
import { randomUUID } from 'node:crypto'

/** Names this process in driver leases, for people who look at them. */
const PROCESS_NAME = `${hostname()}:${process.pid}`

/** Unique per claim, so that the same run sent twice to one process is refused like one sent to two. */
export function newRunOwner(): string {
  return `${PROCESS_NAME}:${randomUUID()}`
}
