import type { Sandbox } from '@daytonaio/sdk'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { DaytonaServer, DaytonaServerOptions } from '@holdfast/testing/daytona'
import { openSandbox, until } from '../../fixtures/daytona-fixture.ts'

const LOGS = 'WS /process/session/:session/command/:command/logs'
const MIXED = 'é漢字🙂─│ plain'

async function startCommand(
  command: string,
  options: DaytonaServerOptions = {},
): Promise<{ server: DaytonaServer; sandbox: Sandbox; cmdId: string }> {
  const { server, sandbox } = await openSandbox({ logIdleMs: 50, ...options })
  await sandbox.process.createSession('s')
  const { cmdId } = await sandbox.process.executeSessionCommand('s', { command, runAsync: true })
  return { server, sandbox, cmdId }
}

async function follow(sandbox: Sandbox, cmdId: string): Promise<{ stdout: string; stderr: string }> {
  const seen = { stdout: '', stderr: '' }
  await sandbox.process.getSessionCommandLogs(
    's',
    cmdId,
    (text) => (seen.stdout += text),
    (text) => (seen.stderr += text),
  )
  return seen
}

interface RawStream {
  frames: Buffer[]
  kinds: boolean[]
  code: number
}

function rawStream(server: DaytonaServer, sandbox: Sandbox, cmdId: string): Promise<RawStream> {
  const url = `${sandbox.toolboxProxyUrl}/${sandbox.id}/process/session/s/command/${cmdId}/logs?follow=true`
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers: { authorization: `Bearer ${server.apiKey}` } })
  const stream: RawStream = { frames: [], kinds: [], code: 0 }
  return new Promise((resolve, reject) => {
    socket.on('message', (data: Buffer, isBinary) => {
      stream.frames.push(data)
      stream.kinds.push(isBinary)
    })
    socket.once('error', reject)
    socket.once('close', (code) => resolve({ ...stream, code }))
  })
}

test('it shows both outputs live, apart, and ends after the exit code is known', async () => {
  const { sandbox, cmdId } = await startCommand('for i in 1 2 3; do echo $i; echo e$i >&2; sleep 0.05; done')
  expect(await follow(sandbox, cmdId)).toEqual({ stdout: '1\n2\n3\n', stderr: 'e1\ne2\ne3\n' })
  expect((await sandbox.process.getSessionCommand('s', cmdId)).exitCode).toBe(0)
})

test('it sends binary frames of at most 1024 bytes and closes with 1000, about a second after the exit', async () => {
  const { server, sandbox, cmdId } = await startCommand('seq 1 1000', { logIdleMs: 1_000 })
  const startedAt = performance.now()
  const { frames, kinds, code } = await rawStream(server, sandbox, cmdId)
  expect(performance.now() - startedAt).toBeGreaterThan(900)
  expect(code).toBe(1000)
  expect(new Set(kinds)).toEqual(new Set([true]))
  expect(Math.max(...frames.map((frame) => frame.length))).toBeLessThanOrEqual(1_024)
  expect(frames.length).toBeGreaterThan(5)
})

test('every connection starts again at byte 0, with the same bytes', async () => {
  const { server, sandbox, cmdId } = await startCommand('echo a; echo b >&2; echo c')
  const first = Buffer.concat((await rawStream(server, sandbox, cmdId)).frames)
  const second = Buffer.concat((await rawStream(server, sandbox, cmdId)).frames)
  expect(second).toEqual(first)
  expect(first.subarray(0, 3)).toEqual(Buffer.from([1, 1, 1]))
})

test.each([1, 2, 3, 7, 'random' as const])(
  'frames of %s bytes are the same log, wherever they cut markers and characters',
  async (logFrameBytes) => {
    const { server, sandbox, cmdId } = await startCommand(`echo '${MIXED}'; echo 'x${MIXED}' >&2`, { logFrameBytes })
    const { frames } = await rawStream(server, sandbox, cmdId)
    const log = Buffer.concat(frames).toString()
    expect(log.split('\n').toSorted()).toEqual(['', `\x01\x01\x01${MIXED}`, `\x02\x02\x02x${MIXED}`])
    if (logFrameBytes !== 'random')
      expect(Math.max(...frames.map((frame) => frame.length))).toBeLessThanOrEqual(logFrameBytes)
  },
)

test.each([2, 4, 5, 7])('the client puts frames of %s bytes together again', async (logFrameBytes) => {
  const { sandbox, cmdId } = await startCommand(`echo '${MIXED}'`, { logFrameBytes })
  await until('the end', async () => (await sandbox.process.getSessionCommand('s', cmdId)).exitCode === 0)
  expect(await follow(sandbox, cmdId)).toEqual({ stdout: `${MIXED}\n`, stderr: '' })
})

test('the client misses a marker that is the end of a frame; the plain log is right', async () => {
  const { sandbox, cmdId } = await startCommand(`echo '${MIXED}'`, { logFrameBytes: 3 })
  await until('the end', async () => (await sandbox.process.getSessionCommand('s', cmdId)).exitCode === 0)
  expect(await follow(sandbox, cmdId)).toEqual({ stdout: '', stderr: '' })
  expect((await sandbox.process.getSessionCommandLogs('s', cmdId)).stdout).toBe(`${MIXED}\n`)
})

test('a stream that is cut resolves like one that ended: only the missing exit code tells', async () => {
  const { server, sandbox, cmdId } = await startCommand('echo one; sleep 0.2; echo two')
  server.setFault({ on: LOGS, effect: { kind: 'cut-socket', atByte: 5 } })
  expect(await follow(sandbox, cmdId)).toEqual({ stdout: 'on', stderr: '' })
  expect(await sandbox.process.getSessionCommand('s', cmdId)).not.toHaveProperty('exitCode')
  expect((await follow(sandbox, cmdId)).stdout).toBe('one\ntwo\n')
})

test('a cut is 1006 on the wire, at exactly the byte asked for', async () => {
  const { server, sandbox, cmdId } = await startCommand('seq 1 1000')
  server.setFault({ on: LOGS, effect: { kind: 'cut-socket', atByte: 1_500 } })
  const { frames, code } = await rawStream(server, sandbox, cmdId)
  expect(code).toBe(1006)
  expect(Buffer.concat(frames)).toHaveLength(1_500)
})

test('a cut longer than the log takes the close frame', async () => {
  const { server, sandbox, cmdId } = await startCommand('echo short')
  server.setFault({ on: LOGS, effect: { kind: 'cut-socket', atByte: 100_000 } })
  expect((await rawStream(server, sandbox, cmdId)).code).toBe(1006)
})

test('a stream of a command whose shell died never ends, until the session is deleted', async () => {
  const { sandbox, cmdId } = await startCommand('echo last; exit 1')
  const stream = follow(sandbox, cmdId)
  const race = await Promise.race([stream, new Promise((resolve) => setTimeout(() => resolve('still open'), 300))])
  expect(race).toBe('still open')
  await sandbox.process.deleteSession('s')
  expect(await stream).toEqual({ stdout: 'last\n', stderr: '' })
})

test('a stop under a stream ends it with 1006', async () => {
  const { server, sandbox, cmdId } = await startCommand('echo here; sleep 60')
  const stream = rawStream(server, sandbox, cmdId)
  await until('the stream', () => server.requests.list({ route: LOGS }).some((request) => request.status === 101))
  await sandbox.stop()
  expect((await stream).code).toBe(1006)
})

test('a silent stream is open and says nothing', async () => {
  const { server, sandbox, cmdId } = await startCommand('echo unheard')
  server.setFault({ on: LOGS, effect: { kind: 'silent-socket' } })
  const race = await Promise.race([
    rawStream(server, sandbox, cmdId),
    new Promise((resolve) => setTimeout(() => resolve('silence'), 300)),
  ])
  expect(race).toBe('silence')
})

describe('a handshake is refused', () => {
  test.each([
    ['for an unknown command', 'x', 404],
    ['with a planned status', '', 502],
  ])('%s, which the client reports as no Error', async (_what, other, status) => {
    const { server, sandbox, cmdId } = await startCommand('true')
    if (status === 502) server.setFault({ on: LOGS, effect: { kind: 'status', status } })
    const failure: unknown = await follow(sandbox, other || cmdId).catch((reason: unknown) => reason)
    expect(failure).not.toBeInstanceOf(Error)
    expect(failure).toMatchObject({ message: `Unexpected server response: ${status}` })
  })

  test('without a key', async () => {
    const { sandbox, cmdId } = await startCommand('true')
    const url = `${sandbox.toolboxProxyUrl}/${sandbox.id}/process/session/s/command/${cmdId}/logs`.replace(
      /^http/,
      'ws',
    )
    const socket = new WebSocket(url)
    const error = await new Promise<Error>((resolve) => socket.once('error', resolve))
    expect(error.message).toContain('401')
  })
})

test('a browser’s way in: the token in the query and the version as a subprotocol', async () => {
  const { sandbox, cmdId } = await startCommand('echo web')
  const { token } = await sandbox.getPreviewLink(1)
  const url = `${sandbox.toolboxProxyUrl}/${sandbox.id}/process/session/s/command/${cmdId}/logs?follow=true&DAYTONA_SANDBOX_AUTH_KEY=${token}`
  const socket = new WebSocket(url.replace(/^http/, 'ws'), ['X-Daytona-SDK-Version~0.218.0'])
  const first = await new Promise<Buffer>((resolve, reject) => {
    socket.once('message', resolve)
    socket.once('error', reject)
  })
  expect(socket.protocol).toBe('X-Daytona-SDK-Version~0.218.0')
  expect(first.toString()).toContain('web')
  socket.close()
})
