import type { EventLog } from '@holdfast/core'
import type { RunTrace } from './run-trace.ts'

/** The log with a span for each write. */
export function tracedLog(log: EventLog, trace: RunTrace | undefined): EventLog {
  if (trace === undefined) return log
  return {
    runId: log.runId,
    resumeFrom: () => log.resumeFrom(),
    append: (chunks) =>
      trace.child('holdfast.store.append', { 'holdfast.events': chunks.length }, () => log.append(chunks)),
    read: (offset, signal) => log.read(offset, signal),
    snapshot: () => log.snapshot(),
    close: () => trace.child('holdfast.store.close', {}, () => log.close()),
  }
}
