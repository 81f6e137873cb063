import { defineCommand } from 'citty'
import { cancelRun } from '../runs/cancel-run.ts'
import { describeRun } from './describe-runs.ts'
import { operatorArguments, withConfig } from './load-operator-config.ts'
import { printRows } from './print-rows.ts'
import { RUN_COLUMNS } from './run-columns.ts'
import { runArgument } from './show-run-command.ts'

export const cancelRunCommand = defineCommand({
  meta: { name: 'cancel', description: 'Ends a run, on whichever host it is' },
  args: {
    ...runArgument,
    ...operatorArguments,
    'keep-sandbox': {
      type: 'boolean',
      description: 'keep its files where its processes provably died',
      default: false,
    },
  },
  run: ({ args }) =>
    withConfig(args, async ({ stores, sandbox }) => {
      const { runId } = args
      const target = sandbox === undefined ? {} : { sandbox }
      await cancelRun({ stores, runId, keepSandbox: args['keep-sandbox'], ...target })
      const run = await describeRun(stores, runId)
      printRows(run === null ? [] : [run], RUN_COLUMNS, args.json)
    }),
})
