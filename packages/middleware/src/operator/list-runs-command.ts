import { InvalidInputError, isRunStatus } from '@holdfast/core'
import type { RunRecord } from '@holdfast/core'
import { defineCommand } from 'citty'
import { describeRuns } from './describe-runs.ts'
import { operatorArguments, withConfig } from './load-operator-config.ts'
import { printRows } from './print-rows.ts'
import { RUN_COLUMNS } from './run-columns.ts'

export const listRunsCommand = defineCommand({
  meta: { name: 'list', description: 'Lists the runs of all tenants, newest first' },
  args: {
    ...operatorArguments,
    status: { type: 'string', description: 'running, interrupted, completed, failed or aborted' },
    thread: { type: 'string', description: 'runs of this thread alone' },
    limit: { type: 'string', description: 'how many', default: '50' },
  },
  run: ({ args }) =>
    withConfig(args, async ({ stores }) => {
      const filter = { ...statusOf(args.status), ...(args.thread === undefined ? {} : { threadId: args.thread }) }
      printRows(await describeRuns({ stores, limit: Number(args.limit), ...filter }), RUN_COLUMNS, args.json)
    }),
})

function statusOf(status: string | undefined): { status?: RunRecord['status'] } {
  if (status === undefined) return {}
  if (isRunStatus(status)) return { status }
  throw new InvalidInputError('INVALID_ARGUMENT', `${status} is no status of a run.`)
}
