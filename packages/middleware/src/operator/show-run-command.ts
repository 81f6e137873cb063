import { NotFoundError } from '@holdfast/core'
import { defineCommand } from 'citty'
import { describeRun } from './describe-runs.ts'
import { operatorArguments, withConfig } from './load-operator-config.ts'
import { printRows } from './print-rows.ts'
import { RUN_COLUMNS } from './run-columns.ts'

/** The argument that names a run. */
export const runArgument = { runId: { type: 'positional', description: 'the run', required: true } } as const

export const showRunCommand = defineCommand({
  meta: { name: 'show', description: 'Shows one run: who drives it, what it uses, how far its log is' },
  args: { ...runArgument, ...operatorArguments },
  run: ({ args }) =>
    withConfig(args, async ({ stores }) => {
      const run = await describeRun(stores, args.runId)
      if (run === null) throw new NotFoundError('RUN_NOT_FOUND', `No run ${args.runId}.`)
      const log = await stores.eventLog.find(args.runId)
      printRows(
        [{ ...run, log }],
        {
          ...RUN_COLUMNS,
          EVENTS: (row) => row.log?.length ?? 0,
          LOG: (row) => (row.log?.isClosed === true ? 'closed' : 'open'),
          ERROR: (row) => row.error?.code ?? row.error?.message,
        },
        args.json,
      )
    }),
})
