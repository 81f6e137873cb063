import { defineCommand } from 'citty'
import { printTable } from './print-table.ts'
import { storeArguments, withStores } from './store-arguments.ts'

export const statusCommand = defineCommand({
  meta: { name: 'status', description: 'Shows counts, open logs, leases and sizes' },
  args: storeArguments,
  run: ({ args }) =>
    withStores(args, { migrate: false }, async (stores) => {
      const { counts, tableBytes } = await stores.maintenance.status()
      const sizes = Object.entries(tableBytes).map(([table, bytes]) => [`bytes of ${table}`, bytes])
      printTable({ ...counts, ...(Object.fromEntries(sizes) as Record<string, number>) }, args.json)
    }),
})
