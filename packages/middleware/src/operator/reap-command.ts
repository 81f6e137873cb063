import { defineCommand } from 'citty'
import { parseDuration } from '../definition/parse-duration.ts'
import { DEFAULT_MAX_DETACHED_MS } from '../reap/reap-options.ts'
import { reapRuns } from '../reap/reap-runs.ts'
import { listSessions } from '../runs/session-registry.ts'
import { stopRuns } from '../runs/stop-runs.ts'
import { operatorArguments, withConfig } from './load-operator-config.ts'
import type { OperatorConfig } from './operator-config.ts'
import { printRows } from './print-rows.ts'

export const reapCommand = defineCommand({
  meta: {
    name: 'reap',
    description:
      'Continues or settles runs whose host died, ends those that nobody came back for, reclaims sandboxes and journals',
  },
  args: {
    ...operatorArguments,
    'detached-longer-than': { type: 'string', description: 'end runs that nobody has watched for this long, as 1h' },
    'running-longer-than': { type: 'string', description: 'end runs that take longer than this, as 6h' },
  },
  run: ({ args }) =>
    withConfig(args, async (config) => {
      const { stores, sandbox, driver, limits = {} } = config
      const detached = args['detached-longer-than']
      const running = args['running-longer-than']
      const maxRunMs = running === undefined ? limits.maxRunMs : parseDuration('--running-longer-than', running)
      const report = await reapRuns({
        stores,
        detachedTtlMs:
          detached === undefined
            ? (limits.maxDetachedMs ?? DEFAULT_MAX_DETACHED_MS)
            : parseDuration('--detached-longer-than', detached),
        ...(sandbox === undefined ? {} : { sandbox }),
        ...(driver === undefined ? {} : { driver }),
        ...(maxRunMs === undefined ? {} : { maxRunMs }),
      })
      printReport(report, args.json)
      await drivenToTheEnd(config)
      const { runs, sandboxes, journals, errors } = report
      const failures = [...runs, ...sandboxes, ...journals, ...errors.map((error) => ({ error }))]
      if (failures.some(({ error }) => error !== undefined)) process.exitCode = 1
    }),
})

function printReport(report: Awaited<ReturnType<typeof reapRuns>>, asJson: boolean): void {
  const rows = [
    ...report.runs.map((run) => ({ kind: 'run', id: run.runId, ...run })),
    ...report.sandboxes.map((sandbox) => ({ kind: 'sandbox', id: sandbox.sandboxId, ...sandbox })),
    ...report.journals.map((journals) => ({ kind: 'journals', id: journals.sandboxId, ...journals })),
    ...report.errors.map((error) => ({ kind: 'error', id: '', threadId: '', outcome: 'failed', error })),
  ]
  const columns = {
    KIND: (row: (typeof rows)[number]) => row.kind,
    ID: (row: (typeof rows)[number]) => row.id,
    THREAD: (row: (typeof rows)[number]) => row.threadId,
    OUTCOME: (row: (typeof rows)[number]) => row.outcome,
    ERROR: (row: (typeof rows)[number]) => row.error?.code ?? row.error?.message,
  }
  printRows(rows, columns, asJson)
}

/** Runs that were taken over go on in this process; an interrupt gives them back to other hosts. */
async function drivenToTheEnd({ stores }: OperatorConfig): Promise<void> {
  const letGo = (): void => void stopRuns(stores)
  process.once('SIGINT', letGo)
  process.once('SIGTERM', letGo)
  try {
    for (let runs = listSessions(stores); runs.length > 0; runs = listSessions(stores)) {
      process.stderr.write(`Driving ${runs.length} run(s) to the end; interrupt to leave them to other hosts.\n`)
      await Promise.all(runs.map((run) => run.ended))
    }
    await stopRuns(stores)
  } finally {
    process.off('SIGINT', letGo)
    process.off('SIGTERM', letGo)
  }
}
