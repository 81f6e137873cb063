import { describe, expect, test } from 'vitest'
import { startDaytona } from '../daytona-fixture.ts'

const EXEC = 'POST /process/execute'
const LOGS = 'WS /process/session/:session/command/:command/logs'
const START = 'POST /process/session/:session/exec'

describe('a command', () => {
  test.each([
    ['the reply is lost', { kind: 'lost-reply' } as const],
    ['the connection drops', { kind: 'drop' } as const],
    ['a gateway answers 502', { kind: 'status', status: 502 } as const],
    ['a gateway answers with a page', { kind: 'html' } as const],
    ['the service asks to slow down', { kind: 'rate-limit', retryAfterSeconds: 1 } as const],
    ['the answer is cut', { kind: 'cut-reply', atByte: 40 } as const],
  ])('runs once and gives its output when %s', { timeout: 30_000 }, async (_title, effect) => {
    const { server, provider } = await startDaytona()
    const sandbox = await provider.create({})
    server.setFault({ on: EXEC, effect })
    const result = await sandbox.process.exec('echo run >>runs; wc -l <runs; echo err >&2; exit 3')
    expect(result).toEqual({ stdout: '1\n', stderr: 'err\n', exitCode: 3 })
  })

  test.each([
    ['the log stream is cut', LOGS, { kind: 'cut-socket', atByte: 200 } as const],
    ['the log stream is refused', LOGS, { kind: 'status', status: 502 } as const],
    ['the start gets no reply', START, { kind: 'lost-reply' } as const],
    ['the start is dropped', START, { kind: 'drop' } as const],
    ['the session cannot be made at first', 'POST /process/session', { kind: 'status', status: 503 } as const],
    ['the session is lost', START, { kind: 'status', status: 404, body: { message: 'x' } } as const],
  ])('streams each byte once when %s', { timeout: 40_000 }, async (_title, on, effect) => {
    const { server, provider } = await startDaytona()
    const sandbox = await provider.create({})
    for (const times of [1, 3]) {
      server.clearFaults()
      server.setFault({ on, effect, times })
      const got = { out: '', err: '' }
      const command = 'echo run >>runs; for i in 1 2 3 4 5 6; do echo "ü $i"; echo "e $i" >&2; sleep 0.1; done; exit 9'
      const result = await sandbox.process.exec(command, {
        onStdout: (text) => (got.out += text),
        onStderr: (text) => (got.err += text),
      })
      const lines = (mark: string): string => [1, 2, 3, 4, 5, 6].map((i) => `${mark} ${i}\n`).join('')
      expect(result).toEqual({ stdout: lines('ü'), stderr: lines('e'), exitCode: 9 })
      expect(got).toEqual({ out: lines('ü'), err: lines('e') })
    }
    expect((await sandbox.process.exec('wc -l <runs')).stdout.trim()).toBe('2')
  })

  test('streams bytes that are no text, markers of the wire included, unchanged to the decoder', async () => {
    const { provider } = await startDaytona({ logFrameBytes: 'random' })
    const sandbox = await provider.create({})
    let text = ''
    const bytes = String.raw`\001\001\001a\002\002\002b\000c\357\273\277\360\237\230\200`
    const { stdout } = await sandbox.process.exec(`printf '${bytes}'`, { onStdout: (piece) => (text += piece) })
    expect(text).toBe('\x01\x01\x01a\x02\x02\x02b\0c\ufeff😀')
    expect(stdout).toBe(text)
  })

  test('that ends the shell ends itself alone', async () => {
    const { provider } = await startDaytona()
    const sandbox = await provider.create({})
    const live = { onStdout: () => undefined }
    expect((await sandbox.process.exec('exit 5', live)).exitCode).toBe(5)
    expect((await sandbox.process.exec('set -e; false; echo no', live)).exitCode).toBe(1)
    expect((await sandbox.process.exec('kill -9 $$', live)).exitCode).toBe(137)
    expect((await sandbox.process.exec('echo next', live)).stdout).toBe('next\n')
  })

  test.each([
    ['destroyed', 'SANDBOX_NOT_FOUND'],
    ['stopped', 'SANDBOX_STOPPED'],
    ['archived', 'SANDBOX_STOPPED'],
  ])('rejects when its sandbox is %s under it', { timeout: 40_000 }, async (state, code) => {
    const { server, provider, connect } = await startDaytona()
    for (const live of [{}, { onStdout: () => undefined }]) {
      const sandbox = await provider.create({})
      const running = sandbox.process.exec('echo begun; sleep 60', live)
      running.catch(() => undefined)
      await new Promise((resolve) => setTimeout(resolve, 400))
      if (state === 'destroyed') await connect().destroy({ id: sandbox.id })
      else if (state === 'stopped') await server.killSandbox(sandbox.id)
      else await connect().park?.({ id: sandbox.id, mode: 'archive' })
      await expect(running).rejects.toMatchObject({ code })
    }
  })

  test('does not run when it was aborted before it could start', { timeout: 30_000 }, async () => {
    const { server, provider } = await startDaytona()
    const sandbox = await provider.create({})
    server.setFault({ on: EXEC, effect: { kind: 'delay', ms: 600 } })
    const stop = new AbortController()
    const reason = new Error('stop')
    const running = sandbox.process.exec('touch ran', { signal: stop.signal })
    setTimeout(() => stop.abort(reason), 100)
    await expect(running).rejects.toBe(reason)
    await new Promise((resolve) => setTimeout(resolve, 800))
    expect(await sandbox.fs.exists('ran')).toBe(false)
  })

  test('that overruns ends with its tree, whatever way it was started', { timeout: 30_000 }, async () => {
    const { provider } = await startDaytona()
    const sandbox = await provider.create({})
    const tree = 'setsid sh -c "while :; do date >>ticks; sleep 0.05; done" & sleep 60'
    for (const live of [{}, { onStdout: () => undefined }]) {
      const before = Date.now()
      const result = await sandbox.process.exec(`echo begun; ${tree}`, { timeoutMs: 700, ...live })
      expect(result).toMatchObject({ timedOut: true, exitCode: 124, stdout: 'begun\n' })
      expect(Date.now() - before).toBeLessThan(6_000)
      const size = (await sandbox.fs.readBytes('ticks')).length
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect((await sandbox.fs.readBytes('ticks')).length).toBe(size)
    }
  })

  test('rejects in time when the service accepts and never answers', { timeout: 60_000 }, async () => {
    const { server, provider } = await startDaytona({}, { livenessTimeoutMs: 500 })
    const sandbox = await provider.create({})
    server.setFault({ on: /./, effect: { kind: 'hang' }, times: 1_000 })
    await expect(sandbox.fs.read('x')).rejects.toMatchObject({ code: 'SANDBOX_UNREACHABLE', retryable: true })
    await expect(sandbox.ports.connect(80)).rejects.toMatchObject({ code: 'SANDBOX_UNREACHABLE' })
  })

  test(
    'rejects when a gateway answers 502 for a sandbox that is started, which is kept',
    { timeout: 60_000 },
    async () => {
      const { server, provider } = await startDaytona()
      const sandbox = await provider.create({})
      const undo = server.setFault({ on: EXEC, effect: { kind: 'status', status: 502 }, times: 1_000 })
      const failed = sandbox.process.exec('true')
      await expect(failed).rejects.toMatchObject({ code: 'SANDBOX_UNREACHABLE', retryable: true })
      undo()
      expect((await sandbox.process.exec('echo on')).stdout).toBe('on\n')
      expect(server.sandboxes().map(({ state }) => state)).toEqual(['started'])
    },
  )

  test('keeps variables out of command lines and requests', async () => {
    const { provider } = await startDaytona()
    const sandbox = await provider.create({})
    await sandbox.env.set({ TOKEN: 'very-secret-value' })
    const look = 'tr "\\0" " " </proc/$$/cmdline; ps ax -o args'
    for (const live of [{}, { onStdout: () => undefined }]) {
      const { stdout } = await sandbox.process.exec(`test "$TOKEN" = very-"secret"-value && ${look}`, live)
      expect(stdout).not.toBe('')
      expect(stdout).not.toContain('very-secret-value')
    }
  })
})

describe('a spawned process', () => {
  test('gets its input once and in order when replies are lost', { timeout: 30_000 }, async () => {
    const { server, provider } = await startDaytona()
    const sandbox = await provider.create({})
    const spawned = await sandbox.process.spawn('cat >got; wc -c <got')
    server.setFault({ on: /input$/, effect: { kind: 'lost-reply' }, times: 2 })
    for (const piece of ['one ', 'two ', 'three']) await spawned.stdin.write(piece)
    await spawned.stdin.end()
    expect(await spawned.wait()).toBe(0)
    expect(await sandbox.fs.read('got')).toBe('one two three')
  })

  test('reports its exit after the log stream was cut', { timeout: 30_000 }, async () => {
    const { server, provider } = await startDaytona()
    const sandbox = await provider.create({})
    server.setFault({ on: LOGS, effect: { kind: 'cut-socket', atByte: 120 }, times: 5 })
    const spawned = await sandbox.process.spawn('for i in 1 2 3 4 5; do echo $i; sleep 0.1; done; exit 6')
    let text = ''
    for await (const piece of spawned.stdout) text += piece
    expect(text).toBe('1\n2\n3\n4\n5\n')
    expect(await spawned.wait()).toBe(6)
  })
})
