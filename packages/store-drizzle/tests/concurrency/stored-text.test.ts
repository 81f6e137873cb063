import postgres from 'postgres'
import type { Sql } from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ConcurrencyServer } from '../support/concurrency-server.ts'
import { textChunk } from '../support/text-chunk.ts'

let server: ConcurrencyServer
beforeAll(async () => {
  server = await ConcurrencyServer.start()
}, 60_000)
afterAll(() => server.stop())

const clients: [string, () => Sql][] = [
  ['its own client', () => postgres(server.postgres.url, { max: 2 })],
  ["an app's client that renames columns", () => postgres(server.postgres.url, { max: 2, transform: postgres.camel })],
  [
    'one that parses 64-bit numbers',
    () => postgres(server.postgres.url, { max: 2, types: { bigint: postgres.BigInt } }),
  ],
  ['one without prepared statements', () => postgres(server.postgres.url, { max: 1, prepare: false })],
]

test.each(clients)('JSON is stored as JSON, never as a string in JSON, through %s', async (name, connect) => {
  const sql = connect()
  const host = server.host({ sql })
  const { admin } = server
  await host.metadata.set('space', name, { a: [1, { b: 'c' }] })
  await host.messages.saveThread(name, [{ role: 'user', content: 'nul \0, lone \ud800, literal \\u0000' }])
  await host.eventLog.open({ runId: name }).append([textChunk('one'), textChunk('two')])
  const { epoch } = await host.drivers.claim({ runId: `${name} run`, threadId: name, owner: 'me', ttlMs: 1_000 })
  await host.drivers.finish({ runId: `${name} run`, epoch, status: 'failed', error: { message: 'nul \0' } })
  const [stored] = await admin`
    select json_typeof(value::json) as type, value::json -> 'a' -> 1 ->> 'b' as field
    from holdfast.metadata where key = ${name}`
  expect(stored).toEqual({ type: 'object', field: 'c' })
  const [message] = await admin`select json_typeof(body::json) as type from holdfast.messages where thread_id = ${name}`
  expect(message).toEqual({ type: 'object' })
  const other = server.host()
  expect(await other.metadata.get('space', name)).toEqual({ a: [1, { b: 'c' }] })
  expect(await other.messages.loadThread(name)).toEqual([
    { role: 'user', content: 'nul \0, lone \ud800, literal \\u0000' },
  ])
  expect(await other.eventLog.find(name)).toMatchObject({ length: 2 })
  expect((await other.runs.get(`${name} run`))?.error).toEqual({ message: 'nul \0' })
  await host.close()
  expect(await sql`select 1 as alive`).toHaveLength(1)
  await sql.end()
})
