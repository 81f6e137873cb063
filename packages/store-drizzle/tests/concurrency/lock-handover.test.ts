import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ConcurrencyServer, ROUNDS } from '../support/concurrency-server.ts'
import { buildHostProgram, HostProcess } from '../support/spawn-host.ts'

const LOCK_TTL_MS = 600
const HOSTS = 8

let server: ConcurrencyServer
let program: Awaited<ReturnType<typeof buildHostProgram>>
beforeAll(async () => {
  program = await buildHostProgram()
  server = await ConcurrencyServer.start()
  await server.admin`create table guarded (token bigint not null, holder text not null, writes integer not null)`
  await server.admin`insert into guarded values (0, '', 0)`
}, 60_000)
afterAll(async () => {
  program.remove()
  await server.stop()
})

test('a lock passes between processes that are killed, suspended and resumed', { timeout: 3_600_000 }, async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    await server.admin`update guarded set token = 0, writes = 0`
    const url = server.postgres.url
    const start = (index: number): HostProcess =>
      new HostProcess(program.path, { kind: 'lock', url, name: `${round}-${index}`, lockTtlMs: LOCK_TTL_MS })
    const hosts = Array.from({ length: HOSTS }, (_, index) => start(index))
    await Promise.all(hosts.map((host) => host.until('written')))
    const [killed, suspended] = hosts as [HostProcess, HostProcess]
    killed.child.kill('SIGKILL')
    suspended.child.kill('SIGSTOP')
    await wait(LOCK_TTL_MS * 3)
    const before = hosts.map((host) => host.count('written'))
    suspended.child.kill('SIGCONT')
    await wait(LOCK_TTL_MS * 2)
    for (const host of hosts.slice(1)) host.finish()
    await Promise.all(hosts.map((host) => host.exited))

    const events = hosts.flatMap((host) => host.events)
    const held = events.filter(({ event }) => event === 'held').map(({ token }) => token)
    expect(new Set(held).size, 'no token is given twice').toBe(held.length)
    expect(events.filter(({ event, aborted }) => event === 'refused' && aborted === false)).toEqual([])
    const [{ writes }] = (await server.admin`select writes from guarded`) as unknown as [{ writes: number }]
    const told = events.filter(({ event }) => event === 'written').length
    expect(writes - told, 'a killed host may have written without telling').toBeOneOf([0, 1])
    hosts.slice(1).forEach((host, index) => {
      expect(host.count('written'), `host ${host.events[0]?.name} is not starved`).toBeGreaterThan(
        host === suspended ? 0 : (before[index + 1] ?? 0),
      )
      expect(host.stderr).toBe('')
    })
  }
})
