import { OFFSET_START } from '@holdfast/core'
import type { EventLogEntry, EventLogStore } from '@holdfast/core'

/** Everything that a reader sees until the log is closed. */
export async function readToEnd(eventLog: EventLogStore, runId: string): Promise<EventLogEntry[]> {
  const entries: EventLogEntry[] = []
  for await (const entry of eventLog.open({ runId }).read(OFFSET_START)) entries.push(entry)
  return entries
}
