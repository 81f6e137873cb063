import { defineCommand } from 'citty'
import type { PruneInput } from '../maintenance/prune-records.ts'
import { parseDuration } from './parse-duration.ts'
import { printTable } from './print-table.ts'
import { storeArguments, withStores } from './store-arguments.ts'

const pruneArguments = {
  ...storeArguments,
  'logs-older-than': { type: 'string', description: 'remove event logs closed longer ago than this, as 30d' },
  'keep-last': { type: 'string', description: 'checkpoints of each thread that stay' },
  'checkpoints-older-than': { type: 'string', description: 'remove checkpoints older than this, as 90d' },
  'drop-named': { type: 'boolean', description: 'let named checkpoints go like others', default: false },
  'blob-grace': {
    type: 'string',
    description: 'collect unreferenced bytes untouched for this long, as 1d (10m or more)',
  },
  'dry-run': { type: 'boolean', description: 'change nothing; show what would be removed', default: false },
} as const

export const pruneCommand = defineCommand({
  meta: {
    name: 'prune',
    description: 'Removes old event logs, checkpoints that no rule keeps, and unreferenced bytes',
  },
  args: pruneArguments,
  run: ({ args }) =>
    withStores(args, { migrate: false }, async (stores) => {
      const removed = await stores.maintenance.prune(pruneInput(args))
      printTable({ ...removed, dryRun: String(args['dry-run']) }, args.json)
    }),
})

type OptionalText = 'logs-older-than' | 'keep-last' | 'checkpoints-older-than' | 'blob-grace'

type PruneArguments = { [option in OptionalText]?: string | undefined } & {
  'drop-named': boolean
  'dry-run': boolean
}

function pruneInput(args: PruneArguments): PruneInput {
  const { 'logs-older-than': logs, 'keep-last': keepLast, 'blob-grace': grace } = args
  const checkpointAge = args['checkpoints-older-than']
  const hasCheckpointRule = keepLast !== undefined || checkpointAge !== undefined
  return {
    dryRun: args['dry-run'],
    ...(logs !== undefined && { eventLogs: { closedForMs: parseDuration('--logs-older-than', logs) } }),
    ...(hasCheckpointRule && {
      checkpoints: {
        keepNamed: !args['drop-named'],
        ...(keepLast !== undefined && { keepLast: Number(keepLast) }),
        ...(checkpointAge !== undefined && { maxAgeMs: parseDuration('--checkpoints-older-than', checkpointAge) }),
      },
    }),
    ...(grace !== undefined && { blobs: { graceMs: parseDuration('--blob-grace', grace) } }),
  }
}
