import { setTimeout as wait } from 'node:timers/promises'
import { isHoldfastError } from '@holdfast/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ConcurrencyServer, ROUNDS } from '../support/concurrency-server.ts'
import { readToEnd } from '../support/read-log.ts'
import { textChunk, textOf } from '../support/text-chunk.ts'

let server: ConcurrencyServer
beforeAll(async () => {
  server = await ConcurrencyServer.start()
}, 60_000)
afterAll(() => server.stop())

/** Appends one event after the other until told to stop; gives what it was told had been stored. */
async function appendUntil(isOver: () => boolean, append: (text: string) => Promise<void>): Promise<string[]> {
  const stored: string[] = []
  for (let index = 0; !isOver(); index += 1) {
    await append(`${index}`)
    stored.push(`${index}`)
    await wait(1)
  }
  return stored
}

describe('lost connections', () => {
  test('killed server processes lose and double no event of a driver', { timeout: 600_000 }, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const [writer, reader] = server.hosts(2, { max: 3 }) as [
        ReturnType<typeof server.host>,
        ReturnType<typeof server.host>,
      ]
      const runId = `killed-${round}`
      const { epoch } = await writer.drivers.claim({ runId, threadId: runId, owner: 'a', ttlMs: 60_000 })
      const seen = readToEnd(reader.eventLog, runId)
      const log = writer.eventLog.open({ runId, epoch })
      let isOver = false
      const appending = appendUntil(
        () => isOver,
        (text) => log.append([textChunk(text)]).then(() => undefined),
      )
      for (let kills = 0; kills < 10; kills += 1) {
        await wait(40)
        await server.admin`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and application_name = 'holdfast'`
      }
      isOver = true
      const stored = await appending
      await log.close()
      expect((await seen).map(textOf)).toEqual(stored)
      await Promise.all([writer.close(), reader.close()])
    }
  })

  test('a server that restarts loses and doubles nothing, and waits go on', { timeout: 120_000 }, async () => {
    const [writer, reader] = server.hosts(2, { max: 3 }) as [
      ReturnType<typeof server.host>,
      ReturnType<typeof server.host>,
    ]
    const { epoch } = await writer.drivers.claim({ runId: 'restart', threadId: 'restart', owner: 'a', ttlMs: 60_000 })
    const seen = readToEnd(reader.eventLog, 'restart')
    const cancelled = reader.drivers.onCancel('restart', new AbortController().signal)
    const log = writer.eventLog.open({ runId: 'restart', epoch })
    let isOver = false
    const appending = appendUntil(
      () => isOver,
      (text) => log.append([textChunk(text)]).then(() => undefined),
    )
    await wait(100)
    await server.postgres.restart()
    await wait(100)
    await server.postgres.kill9()
    await server.postgres.restart()
    await wait(300)
    isOver = true
    const stored = await appending
    await writer.drivers.requestCancel({ runId: 'restart' })
    expect(await cancelled).toEqual({ runId: 'restart', keepSandbox: false })
    await log.close()
    expect((await seen).map(textOf)).toEqual(stored)
  })

  test(
    'an append that nobody fences says when its outcome is unknown, and is never doubled',
    { timeout: 60_000 },
    async () => {
      const host = server.host({ max: 1 })
      const log = host.eventLog.open({ runId: 'unfenced' })
      const told: string[] = []
      const unsure: string[] = []
      let isOver = false
      const appending = appendUntil(
        () => isOver,
        async (text) => {
          try {
            await log.append([textChunk(text)])
            told.push(text)
          } catch (error) {
            expect(isHoldfastError(error, 'STORE_OUTCOME_UNKNOWN')).toBe(true)
            unsure.push(text)
          }
        },
      )
      for (let kills = 0; kills < 20; kills += 1) {
        await wait(15)
        await server.admin`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and application_name = 'holdfast'`
      }
      isOver = true
      await appending
      const stored = (await log.snapshot()).map(textOf)
      expect(new Set(stored).size).toBe(stored.length)
      expect(stored.filter((text) => !unsure.includes(text))).toEqual(told)
    },
  )

  test('a start that fails is tried again by the next call', { timeout: 60_000 }, async () => {
    const closed = await server.postgres.createDatabase()
    const url = closed.url
    await closed.drop()
    const host = server.host({ url })
    await expect(host.ping()).rejects.toMatchObject({ code: 'STORE_FAILED' })
    await server.admin.unsafe(`create database ${new URL(url).pathname.slice(1)}`)
    await host.ping()
  })
})
