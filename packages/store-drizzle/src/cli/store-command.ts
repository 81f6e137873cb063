import { defineCommand } from 'citty'
import { migrateCommand } from './migrate-command.ts'
import { pruneCommand } from './prune-command.ts'
import { statusCommand } from './status-command.ts'

export const storeCommand = defineCommand({
  meta: { name: 'holdfast-store', description: 'Looks after a Holdfast store on PostgreSQL or in a directory' },
  subCommands: { migrate: migrateCommand, status: statusCommand, prune: pruneCommand },
})
