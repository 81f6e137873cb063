import { fork } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { FaultPlan, processProvider, startPostgres } from '@holdfast/testing'
import type { TestPostgres } from '@holdfast/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { faultsOfRound } from '../../src/crash/check-round.ts'
import { crashApp, eventsOf, sendRequest } from '../../src/crash/crash-app.mjs'
import { openSecondHost, PROGRAM, rejoin } from '../../src/crash/crash-round.ts'
import type { CrashResult, SecondHost } from '../../src/crash/crash-round.ts'
import { refusalsOf } from '../../src/simulation/strict-model.ts'

let database: TestPostgres
let dir: string
let second: SecondHost

beforeAll(async () => {
  ;[database, dir] = await Promise.all([startPostgres(), mkdtemp(join(tmpdir(), 'holdfast-disturbed-'))])
  second = await openSecondHost(database.url, { kind: 'process', dir })
})

afterAll(async () => {
  await second?.stores.close()
  await database?.stop()
  await rm(dir, { recursive: true, force: true })
})

const emptyResult = (): CrashResult => ({ events: [], calls: undefined, exit: 'died' })

describe('a host that sleeps past its lease', () => {
  for (const call of [14, 22, 30, 38]) {
    it(`at its call ${call} is continued by another, and changes nothing when it wakes up`, async () => {
      const threadId = `asleep-${call}`
      const ids = { runId: `${threadId}-run`, threadId }
      const order = { url: second.url, provider: second.choice, ...ids, crash: { call, when: 'before', as: 'SIGSTOP' } }
      const zombie = fork(PROGRAM, [JSON.stringify(order)], {
        execArgv: [],
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      })
      const ended = new Promise((resolve) => zombie.on('exit', resolve))
      const result = emptyResult()
      zombie.on('message', ({ event }: { event?: CrashResult['events'][number] }) => event && result.events.push(event))
      try {
        await expect.poll(() => isStopped(zombie.pid ?? 0), { timeout: 30_000 }).toBe(true)
        await rejoin(second, ids, result)
        const before = await second.stores.eventLog.open({ runId: ids.runId }).snapshot()
        zombie.kill('SIGCONT')
        await Promise.race([ended, wait(4_000)])
        expect(await second.stores.eventLog.open({ runId: ids.runId }).snapshot()).toEqual(before)
        result.events.splice(before.length)
        expect(await faultsOfRound(second, threadId, result)).toEqual([])
      } finally {
        zombie.kill('SIGKILL')
        await ended
      }
    })
  }
})

describe('a database that is started again in the middle of a run', () => {
  it('costs no event, no word and no command', async () => {
    const threadId = 'restarted'
    const ids = { runId: `${threadId}-run`, threadId }
    const result = emptyResult()
    const events = eventsOf(await second.routes.handle(sendRequest(ids.runId, threadId)))
    let restarting: Promise<void> | undefined
    for await (const event of events) {
      if (event.offset !== undefined) result.events.push(event)
      if (result.events.length === 12) restarting = database.restart()
    }
    await restarting
    await rejoin(second, ids, result)
    expect(await faultsOfRound(second, threadId, result)).toEqual([])
  })
})

describe('a sandbox whose connection is cut', () => {
  it('fails a command or a run, and leaves a thread that goes on', async () => {
    for (const rule of [
      { on: 'exec' as const, do: 'lose-reply' as const },
      { on: 'resume' as const, do: 'fail' as const },
      { on: 'create' as const, do: 'lose-reply' as const },
    ]) {
      const threadId = `cut-${rule.on}`
      const provider = processProvider({ dir, faults: new FaultPlan([rule]) })
      const routes = crashApp(second.stores, provider)
      const runIds = ['first', 'second', 'last'].map((name) => `${threadId}-${name}`)
      for (const runId of runIds) {
        for await (const event of eventsOf(await routes.handle(sendRequest(runId, threadId)))) void event
        await expect.poll(async () => (await second.stores.runs.get(runId))?.status).not.toBe('running')
      }
      const runs = await Promise.all(runIds.map((runId) => second.stores.runs.get(runId)))
      expect(runs.at(-1)?.status).toBe('completed')
      expect(runs.filter((run) => run?.status === 'failed').length).toBeLessThanOrEqual(1)
      expect(refusalsOf(await second.stores.messages.loadThread(threadId))).toEqual([])
    }
  })
})

async function isStopped(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return /^State:\s+T/m.test(status)
}
