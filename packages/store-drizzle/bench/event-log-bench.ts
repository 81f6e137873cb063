import { setTimeout as wait } from 'node:timers/promises'
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

/** Batches of some sizes against one plain row of the same bytes; both are given the chunks. */
export async function benchAppends(stores: SqlStores, sql: Sql): Promise<Measurement[]> {
  await sql`create table plain_rows (id bigint generated always as identity primary key, body text not null)`
  const measurements: Measurement[] = []
  for (const size of [1, 16, 128]) {
    const runId = `append-${size}`
    const { epoch } = await stores.drivers.claim({ runId, threadId: runId, owner: 'bench', ttlMs: 600_000 })
    const log = stores.eventLog.open({ runId, epoch })
    const chunks = Array.from({ length: size }, (_, index) => chunk(index))
    const rates = await ratesInTurns(
      200,
      () => log.append(chunks),
      () => sql`insert into plain_rows (body) values (${JSON.stringify(chunks)})`,
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
  const [tailing, notifying] = [await tailedAppends(writer, reader), await bareNotifications(sql)]
  const [ours, plain]: [number[], number[]] = [[], []]
  // By turns, because a pause of the machine would otherwise spoil the worst of one and not of the other.
  for (let index = -WARM_UP; index < SAMPLES; index += 1) {
    const [one, other] = [await timeOf(tailing.once), await timeOf(notifying.once)]
    if (index >= 0) {
      ours.push(one)
      plain.push(other)
    }
  }
  await Promise.all([tailing.end(), notifying.end()])
  return [0.5, 0.99].map((share) => ({
    name: `append to another host, p${share * 100}`,
    ours: `${percentile(ours, share).toFixed(2)} ms`,
    plain: `${percentile(plain, share).toFixed(2)} ms`,
    ratio: percentile(ours, share) / percentile(plain, share),
    ...(share === 0.99 && { budget: { atMost: 5 } }),
  }))
}

const SAMPLES = 1_000
/** Before what counts: connections open, statements are prepared. */
const WARM_UP = 100

interface Repeated {
  once: () => Promise<unknown>
  end: () => Promise<unknown>
}

/** Rested first, so that nothing of the sample before is still on its way. */
async function timeOf(work: () => Promise<unknown>): Promise<number> {
  await wait(2)
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

async function tailedAppends(writer: SqlStores, reader: SqlStores): Promise<Repeated> {
  const log = writer.eventLog.open({ runId: 'tail' })
  await log.append([chunk(0)])
  const entries = reader.eventLog.open({ runId: 'tail' }).read(OFFSET_NOW)[Symbol.asyncIterator]()
  let next = entries.next()
  await wait(500)
  return {
    once: async () => {
      await Promise.all([log.append([chunk(0)]), next])
      next = entries.next()
    },
    end: async () => {
      await log.close()
      await next
    },
  }
}

async function bareNotifications(sql: Sql): Promise<Repeated> {
  let heard = (): void => {}
  const listening = await sql.listen('bench', () => heard())
  return {
    once: () => {
      const arrived = new Promise<void>((resolve) => (heard = resolve))
      return Promise.all([sql`select pg_notify('bench', 'news')`, arrived])
    },
    end: () => listening.unlisten(),
  }
}
