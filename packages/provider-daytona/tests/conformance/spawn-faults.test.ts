import { describe, expect, test } from 'vitest'
import { startDaytona } from '../daytona-fixture.ts'

const START = 'POST /process/session/:session/exec'
const READ = 'GET /process/session/:session'

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
      await spawned.stdin.write('input')
      await spawned.stdin.end()
      let text = ''
      for await (const piece of spawned.stdout) text += piece
      expect(text).toBe('input')
      expect(await spawned.wait()).toBe(4)
      expect(await sandbox.fs.read('runs')).toBe('run\n')
    },
  )

  test('is refused and never runs when no session can be had', { timeout: 30_000 }, async () => {
    const { server, provider } = await startDaytona()
    const sandbox = await provider.create({})
    server.setFault({ on: START, effect: { kind: 'status', status: 404, body: { message: 'x' } }, times: 9 })
    const refused = sandbox.process.spawn('echo run >>runs; cat')
    await expect(refused).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE', retryable: true })
    expect(await sandbox.fs.exists('runs')).toBe(false)
  })
})
