import { defineCommand } from 'citty'
import { MIGRATIONS } from '../migrations/migration-list.ts'
import { printTable } from './print-table.ts'
import { storeArguments, withStores } from './store-arguments.ts'

export const migrateCommand = defineCommand({
  meta: { name: 'migrate', description: 'Brings the schema to the version of this package; may be repeated' },
  args: storeArguments,
  run: ({ args }) =>
    withStores(args, { migrate: true }, async (stores) => {
      await stores.ping()
      printTable({ version: MIGRATIONS.at(-1)?.version ?? 0 }, args.json)
    }),
})
