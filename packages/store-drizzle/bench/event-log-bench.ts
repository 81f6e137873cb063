import { OFFSET_NOW } from '@holdfast/core'
import type { StreamChunk } from '@tanstack/ai'
import type { Sql } from 'postgres'
import type { SqlStores } from '../src/index.ts'
import { percentile, ratesInTurns } from './measure.ts'
import type { Measurement } from './measure.ts'

const chunk = (index: number): StreamChunk =>
  ({
    type: 'TEXT_MESSAGE_CONTENT',
    messageId: 'message-1',
    delta: `some words of text number ${index} `,
    timestamp: index,
  }) as unknown as StreamChunk

/** Batches of some sizes against one plain row of the same bytes. */
export async function benchAppends(stores: SqlStores, sql: Sql): Promise<Measurement[]> {
  await sql`create table plain_rows (id bigint generated always as identity primary key, body text not null)`
  const measurements: Measurement[] = []
  for (const size of [1, 16, 128]) {
    const runId = `append-${size}`
    const { epoch } = await stores.drivers.claim({ runId, threadId: runId, owner: 'bench', ttlMs: 600_000 })
    const log = stores.eventLog.open({ runId, epoch })
    const chunks = Array.from({ length: size }, (_, index) => chunk(index))
    const body = chunks.map((each) => JSON.stringify(each)).join('\n')
    const rates = await ratesInTurns(
      200,
      () => log.append(chunks),
      () => sql`insert into plain_rows (body) values (${body})`,
    )
    measurements.push({
      name: `append, batches of ${size}`,
      ours: `${rates.ours.toFixed(0)}/s`,
      plain: `${rates.plain.toFixed(0)}/s`,
      ratio: rates.ratio,
      ...(size > 1 && { budget: { atLeast: 0.6 } }),
    })
  }
  return measurements
}

/** From an append in one host until a reader on other connections has it, against a bare NOTIFY. */
export async function benchTailing(writer: SqlStores, reader: SqlStores, sql: Sql): Promise<Measurement[]> {
  const ours = await appendLatencies(writer, reader)
  const plain = await notifyLatencies(sql)
  return [0.5, 0.99].map((share) => ({
    name: `append to another host, p${share * 100}`,
    ours: `${percentile(ours, share).toFixed(2)} ms`,
    plain: `${percentile(plain, share).toFixed(2)} ms`,
    ratio: percentile(ours, share) / percentile(plain, share),
    ...(share === 0.99 && { budget: { atMost: 5 } }),
  }))
}

const SAMPLES = 500

async function appendLatencies(writer: SqlStores, reader: SqlStores): Promise<number[]> {
  const log = writer.eventLog.open({ runId: 'tail' })
  await log.append([chunk(0)])
  const entries = reader.eventLog.open({ runId: 'tail' }).read(OFFSET_NOW)[Symbol.asyncIterator]()
  const latencies: number[] = []
  let next = entries.next()
  await new Promise((resolve) => setTimeout(resolve, 500))
  for (let index = 0; index < SAMPLES; index += 1) {
    const startedAt = performance.now()
    await Promise.all([log.append([chunk(index)]), next])
    latencies.push(performance.now() - startedAt)
    next = entries.next()
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  await log.close()
  await next
  return latencies
}

async function notifyLatencies(sql: Sql): Promise<number[]> {
  let heard = (): void => {}
  const listening = await sql.listen('bench', () => heard())
  const latencies: number[] = []
  for (let index = 0; index < SAMPLES; index += 1) {
    const startedAt = performance.now()
    const arrived = new Promise<void>((resolve) => (heard = resolve))
    await Promise.all([sql`select pg_notify('bench', ${String(index)})`, arrived])
    latencies.push(performance.now() - startedAt)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  await listening.unlisten()
  return latencies
}
