import type { SandboxSpawnHandle } from '@holdfast/core'
import { describe, expect, test } from 'vitest'
import { startDaytona } from '../daytona-fixture.ts'

const START = 'POST /process/session/:session/exec'
const READ = 'GET /process/session/:session'
const INPUT = 'POST /process/session/:session/command/:command/input'
const LOGS = 'WS /process/session/:session/command/:command/logs'

/** Gives a command its whole input, and takes all that it answers. */
async function talk({ stdin, stdout, wait }: SandboxSpawnHandle): Promise<{ text: string; exitCode: number }> {
  await stdin.write('input\n')
  await stdin.end()
  let text = ''
  for await (const piece of stdout) text += piece
  return { text, exitCode: await wait() }
}

describe('a spawned command', () => {
  test.each([
    ['the question for it gets a web page', { kind: 'html' } as const],
    ['the question for it fails', { kind: 'status', status: 503 } as const],
  ])(
    'runs once and gets its input when the reply of its start is lost and %s',
    { timeout: 30_000 },
    async (_title, effect) => {
      const { server, provider } = await startDaytona()
      const sandbox = await provider.create({})
      server.setFault({ on: START, effect: { kind: 'lost-reply' } })
      server.setFault({ on: READ, effect, times: 9 })
      const spawned = await sandbox.process.spawn('echo run >>runs; cat; exit 4')
      expect(await talk(spawned)).toEqual({ text: 'input\n', exitCode: 4 })
      expect(await sandbox.fs.read('runs')).toBe('run\n')
    },
  )

  test('starts and takes input without a log stream', { timeout: 30_000 }, async () => {
    const { server, provider } = await startDaytona()
    const sandbox = await provider.create({})
    server.setFault({ on: LOGS, effect: { kind: 'cut-socket', atByte: 0 }, times: 9 })
    const spawned = await sandbox.process.spawn('cat; exit 4')
    expect(spawned.pid).toBeGreaterThan(0)
    expect(await talk(spawned)).toEqual({ text: 'input\n', exitCode: 4 })
  })

  test.each([2, 3, 4, 'random'] as const)(
    'starts and loses no output when log messages are cut after %s bytes',
    { timeout: 60_000 },
    async (logFrameBytes) => {
      const { server, provider } = await startDaytona()
      server.configure({ logFrameBytes })
      const sandbox = await provider.create({})
      const spawned = await sandbox.process.spawn('cat; echo more')
      expect(await talk(spawned)).toEqual({ text: 'input\nmore\n', exitCode: 0 })
    },
  )

  test('an end of input that the service did not take rejects, and may be repeated', { timeout: 30_000 }, async () => {
    const { server, provider } = await startDaytona()
    const sandbox = await provider.create({})
    const spawned = await sandbox.process.spawn('cat')
    server.setFault({ on: INPUT, effect: { kind: 'status', status: 403, body: { message: 'no' } } })
    await expect(spawned.stdin.end()).rejects.toMatchObject({ code: 'PROVIDER_REFUSED' })
    await expect(spawned.stdin.write('late')).rejects.toMatchObject({ code: 'PROCESS_STDIN_CLOSED' })
    server.requests.clear()
    await Promise.all([spawned.stdin.end(), spawned.stdin.end()])
    expect(server.requests.counts()[INPUT]).toBe(1)
    expect(await spawned.wait()).toBe(0)
  })

  test('is refused and never runs when no session can be had', { timeout: 30_000 }, async () => {
    const { server, provider } = await startDaytona()
    const sandbox = await provider.create({})
    server.setFault({ on: START, effect: { kind: 'status', status: 404, body: { message: 'x' } }, times: 9 })
    const refused = sandbox.process.spawn('echo run >>runs; cat')
    await expect(refused).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE', retryable: true })
    expect(await sandbox.fs.exists('runs')).toBe(false)
  })
})
