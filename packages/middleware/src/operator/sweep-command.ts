import { InvalidInputError } from '@holdfast/core'
import { defineCommand } from 'citty'
import { parseDuration } from '../definition/parse-duration.ts'
import { sweepSandboxes } from '../reap/sweep-sandboxes.ts'
import { operatorArguments, withConfig } from './load-operator-config.ts'
import { printRows } from './print-rows.ts'

export const sweepCommand = defineCommand({
  meta: { name: 'sweep', description: 'Destroys sandboxes that nothing points at, forgets rows whose sandbox is gone' },
  args: {
    ...operatorArguments,
    'dry-run': { type: 'boolean', description: 'change nothing; show what would be done', default: false },
    'older-than': { type: 'string', description: 'leave everything younger alone', default: '1h' },
    'trust-empty-store': {
      type: 'boolean',
      description: 'destroy although the store knows no sandbox at all',
      default: false,
    },
  },
  run: ({ args }) =>
    withConfig(args, async ({ stores, sandbox }) => {
      if (sandbox === undefined) throw new InvalidInputError('INVALID_CONFIGURATION', 'A sweep needs `sandbox`.')
      const report = await sweepSandboxes({
        stores,
        sandbox,
        minAgeMs: parseDuration('--older-than', args['older-than']),
        dryRun: args['dry-run'],
        trustEmptyStore: args['trust-empty-store'],
      })
      printRows(
        report.outcomes,
        {
          SANDBOX: (row) => row.sandboxId,
          REASON: (row) => row.reason,
          OUTCOME: (row) => row.outcome,
          BECAUSE: (row) => row.because,
          ERROR: (row) => row.error?.code ?? row.error?.message,
        },
        args.json,
      )
      for (const { message } of report.errors) process.stderr.write(`${message}\n`)
      process.stderr.write(`${report.listed} sandboxes listed, ${report.recorded} of them in use.\n`)
      if (report.errors.length > 0 || report.outcomes.some(({ error }) => error !== undefined)) process.exitCode = 1
    }),
})
