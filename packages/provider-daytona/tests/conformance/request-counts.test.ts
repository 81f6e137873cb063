import { FakeClock } from '@holdfast/testing'
import { describe, expect, test } from 'vitest'
import { createDaytonaLeases } from '../../src/index.ts'
import { startDaytona } from '../daytona-fixture.ts'

const HOUR_MS = 3_600_000

describe('the number of requests', () => {
  test('of a warm short command is 1, with both outputs apart', async () => {
    const { server, provider } = await startDaytona()
    const sandbox = await provider.create({})
    server.requests.clear()
    const result = await sandbox.process.exec('echo out; echo err >&2; exit 7', { env: { A: 'b' }, stdin: 'in' })
    expect(result).toEqual({ stdout: 'out\n', stderr: 'err\n', exitCode: 7 })
    expect(server.requests.counts()).toEqual({ 'POST /process/execute': 1 })
  })

  test('of a command with five megabytes of input is 2', async () => {
    const { server, provider } = await startDaytona()
    const sandbox = await provider.create({})
    server.requests.clear()
    const result = await sandbox.process.exec('wc -c', { stdin: new Uint8Array(5_000_000) })
    expect(result.stdout.trim()).toBe('5000000')
    expect(server.requests.count()).toBe(2)
  })

  test('of a streamed command is at most 4, however long it is', async () => {
    const { server, provider } = await startDaytona()
    const sandbox = await provider.create({})
    for (const rounds of [1, 30]) {
      server.requests.clear()
      let text = ''
      const command = `i=0; while [ $i -lt ${rounds} ]; do echo line $i; i=$((i+1)); sleep 0.05; done`
      await sandbox.process.exec(command, { onStdout: (piece) => (text += piece) })
      expect(text.trim().split('\n')).toHaveLength(rounds)
      expect(server.requests.count()).toBeLessThanOrEqual(4)
    }
  })

  test('of a command that outlasts one request is at most 4', { timeout: 40_000 }, async () => {
    const { server, provider } = await startDaytona()
    const sandbox = await provider.create({})
    server.requests.clear()
    expect((await sandbox.process.exec('sleep 16; echo late')).stdout).toBe('late\n')
    expect(server.requests.count()).toBeLessThanOrEqual(4)
  })

  test('of 100 files up, and of 100 files down, is at most 3', async () => {
    const { server } = await startDaytona()
    const leases = createDaytonaLeases({ apiUrl: server.url, apiKey: server.apiKey, target: 'us' })
    const lease = await leases.acquire({ key: 'sync' })
    const files = Array.from({ length: 100 }, (_, i) => ({
      path: `dir ${i % 7}/f${i}`,
      data: Buffer.from(`bytes ${i}`),
    }))
    server.requests.clear()
    await lease.files.writeAll(files)
    expect(server.requests.count()).toBeLessThanOrEqual(3)
    server.requests.clear()
    const back = await lease.files.readAll(files.map(({ path }) => path))
    expect(server.requests.count()).toBeLessThanOrEqual(3)
    for (const { path, data } of files) expect(Buffer.from(back.get(path) ?? []).equals(data)).toBe(true)
    await leases.close()
  })

  test('of resuming a started sandbox is at most 3, from a host that has never seen it', async () => {
    const { server, provider, connect } = await startDaytona()
    const { id } = await provider.create({})
    server.requests.clear()
    expect(await connect().resume({ id })).not.toBeNull()
    expect(server.requests.count()).toBeLessThanOrEqual(3)
  })

  test('of an idle hour after a run is 0, and the service stops the sandbox', async () => {
    const clock = new FakeClock()
    const { server, provider } = await startDaytona({ clock }, { clock })
    const sandbox = await provider.create({})
    await sandbox.refreshActivity?.()
    await sandbox.process.exec('echo done', { onStdout: () => undefined })
    const spawned = await sandbox.process.spawn('cat')
    await spawned.stdin.end()
    await spawned.wait()
    await untilStreamsEnd(server)
    server.requests.clear()
    for (let minutes = 0; minutes < 60; minutes += 5) {
      await clock.advance(HOUR_MS / 12)
      server.checkIdle()
    }
    expect(server.requests.count()).toBe(0)
    await server.settled(sandbox.id)
    expect(server.sandboxes()[0]?.state).not.toBe('started')
  })
})

/** Log streams are closed by the service, a second after the command. */
async function untilStreamsEnd(server: { requests: { count: () => number } }): Promise<void> {
  let before = -1
  while (server.requests.count() !== before) {
    before = server.requests.count()
    await new Promise((resolve) => setTimeout(resolve, 1_500))
  }
}
