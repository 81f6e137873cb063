import { PGlite } from '@electric-sql/pglite'
import { systemClock } from '@holdfast/core'
import { expect, test } from 'vitest'
import { createSqlStores } from '../../src/create-sql-stores.ts'
import { migrateSchema } from '../../src/database/migrate-schema.ts'
import { pgliteConnection } from '../../src/database/pglite-executor.ts'
import type { SqlConnection } from '../../src/database/sql-executor.ts'
import { topicToken } from '../../src/wake/wake-topic.ts'
import { textChunk } from '../support/text-chunk.ts'

async function openPglite(): Promise<SqlConnection> {
  const pglite = await PGlite.create()
  const connection = pgliteConnection(pglite, () => pglite.close())
  await migrateSchema(connection, { schema: 'holdfast' })
  return connection
}

test(
  'a close still tells the other hosts of appends whose turn to be told had not come',
  { timeout: 300_000 },
  async () => {
    const told: string[] = []
    let letFirstGo = (): void => {}
    const firstMayGo = new Promise<void>((resolve) => (letFirstGo = resolve))
    const stores = createSqlStores({
      backend: 'pglite',
      schema: 'holdfast',
      clock: systemClock,
      locks: {},
      open: openPglite,
      remote: (channel, notify) => ({
        isListening: true,
        start: () => {},
        notify: async (tokens) => {
          await firstMayGo
          await notify(channel, tokens.join())
          told.push(...tokens)
        },
        close: () => Promise.resolve(),
      }),
    })
    for (const runId of ['first', 'second']) await stores.eventLog.open({ runId }).append([textChunk('last words')])
    const closing = stores.close()
    await expect(stores.ping()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    letFirstGo()
    await closing
    expect(told).toEqual(['first', 'second'].map((id) => topicToken({ kind: 'log', id })))
  },
)
