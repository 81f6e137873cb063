import type { PtyHandle, Sandbox } from '@daytonaio/sdk'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { DaytonaServer } from '@holdfast/testing/daytona'
import { callToolbox, openSandbox, rejection, until } from '../../fixtures/daytona-fixture.ts'

interface Terminal {
  handle: PtyHandle
  text: () => string
}

async function open(
  sandbox: Sandbox,
  options: { id?: string; cwd?: string; envs?: Record<string, string> } = {},
): Promise<Terminal> {
  const chunks: Buffer[] = []
  const handle = await sandbox.process.createPty({
    id: 'p',
    ...options,
    onData: (data) => void chunks.push(Buffer.from(data)),
  })
  return { handle, text: () => Buffer.concat(chunks).toString() }
}

interface RawTerminal {
  socket: WebSocket
  texts: string[]
  end: Promise<{ code: number; reason: string }>
}

function raw(server: DaytonaServer, sandbox: Sandbox, path: string, protocols: string[]): RawTerminal {
  const url = `${sandbox.toolboxProxyUrl}/${sandbox.id}/process/pty/${path}`.replace(/^http/, 'ws')
  const socket = new WebSocket(url, protocols, { headers: { authorization: `Bearer ${server.apiKey}` } })
  const texts: string[] = []
  socket.on('message', (data: Buffer, isBinary) => {
    if (!isBinary) texts.push(data.toString())
  })
  const end = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  )
  return { socket, texts, end }
}

test('a terminal has its directory, variables and size, and echoes like one', async () => {
  const { sandbox, home } = await openSandbox()
  await sandbox.fs.createFolder('sub', '755')
  const { handle, text } = await open(sandbox, { cwd: 'sub', envs: { GREETING: 'hé llo' } })
  await handle.sendInput('echo "<$GREETING>" "<$TERM>"; pwd; stty size; exit 0\n')
  expect(await handle.wait()).toEqual({ exitCode: 0, error: undefined })
  expect(text()).toContain('<hé llo> <xterm-256color>')
  expect(text()).toContain(`${home}/sub`)
  expect(text()).toContain('24 80')
})

test.each([
  ['exit 4', 4, 'non-zero exit'],
  ['kill -9 $$', 137, 'SIGKILL'],
  ['exit 143', 143, 'SIGTERM'],
])('%s ends it with code %s and "%s"', async (command, exitCode, error) => {
  const { sandbox } = await openSandbox()
  const { handle } = await open(sandbox)
  await handle.sendInput(`${command}\n`)
  expect(await handle.wait()).toEqual({ exitCode, error })
})

describe('the end on the wire', () => {
  test('is a control message and a close frame with a reason', async () => {
    const { server, sandbox } = await openSandbox()
    const terminal = raw(server, sandbox, 'create-connect?id=p&cols=80&rows=24', ['X-Daytona-Pty-Exit-Control'])
    await until('the start', () => terminal.texts.length > 0)
    expect(terminal.socket.protocol).toBe('X-Daytona-Pty-Exit-Control')
    terminal.socket.send(Buffer.from('exit 3\n'))
    expect(await terminal.end).toEqual({ code: 1011, reason: '{"exitCode":3,"exitReason":"non-zero exit"}' })
    expect(terminal.texts.map((text) => JSON.parse(text) as object)).toEqual([
      { type: 'control', status: 'connected' },
      { type: 'control', status: 'exited', exitCode: 3, exitReason: 'non-zero exit' },
    ])
  })

  test('lacks the control message where it was not asked for', async () => {
    const { server, sandbox } = await openSandbox()
    const { handle } = await open(sandbox)
    const other = raw(server, sandbox, 'p/connect', [])
    await until('the connection', () => other.texts.length > 0)
    await handle.sendInput('exit 0\n')
    expect(await other.end).toEqual({ code: 1000, reason: '{"exitCode":0}' })
    expect(other.texts).toHaveLength(1)
  })

  test('is the close frame alone when told so; the client still learns the code', async () => {
    const { sandbox } = await openSandbox({ ptyExit: 'close' })
    const { handle } = await open(sandbox)
    await handle.sendInput('exit 5\n')
    expect(await handle.wait()).toMatchObject({ exitCode: 5 })
  })

  test('is neither when told so: the code stays unknown', async () => {
    const { sandbox } = await openSandbox({ ptyExit: 'cut' })
    const { handle } = await open(sandbox)
    const end = handle.wait()
    await handle.sendInput('exit 5\n')
    expect((await end).exitCode).toBeUndefined()
  })
})

test('clients share a terminal; what was said before one came is not repeated', async () => {
  const { sandbox } = await openSandbox()
  const first = await open(sandbox)
  await first.handle.sendInput('echo ear""ly\n')
  await until('the output', () => first.text().includes('early'))
  let seen = ''
  const second = await sandbox.process.connectPty('p', {
    onData: (data) => void (seen += Buffer.from(data).toString()),
  })
  await second.sendInput('echo la""te\n')
  await until('the output in both', () => seen.includes('late') && first.text().includes('late'))
  expect(seen).not.toContain('early')
  await first.handle.disconnect()
  await second.sendInput('echo still he""re\n')
  await until('the output in one', () => seen.includes('still here'))
})

test('terminals are listed, resized and killed; the id is free again', async () => {
  const { sandbox } = await openSandbox()
  const { handle, text } = await open(sandbox)
  expect(await sandbox.process.listPtySessions()).toMatchObject([{ id: 'p', active: true, cols: 80, rows: 24 }])
  expect(await handle.resize(120, 40)).toMatchObject({ cols: 120, rows: 40 })
  await handle.sendInput('stty size\n')
  await until('the size', () => text().includes('40 120'))
  expect(await rejection(handle.resize(0, 40))).toMatchObject({ statusCode: 400 })
  const end = handle.wait()
  await handle.kill()
  expect(await end).toEqual({ exitCode: 137, error: 'SIGKILL' })
  expect(await rejection(sandbox.process.getPtySessionInfo('p'))).toMatchObject({ statusCode: 404 })
  expect(await rejection(sandbox.process.resizePtySession('p', 10, 10))).toMatchObject({ statusCode: 410 })
  await open(sandbox)
})

test('what goes wrong after the handshake is told in a control message', async () => {
  const { sandbox } = await openSandbox()
  await open(sandbox)
  expect((await rejection(open(sandbox))).message).toContain('already exists')
  expect((await rejection(sandbox.process.connectPty('q', { onData: () => undefined }))).message).toContain('not found')
})

test('a refused handshake loses its reason in the client', async () => {
  const { server, sandbox } = await openSandbox()
  server.setFault({ on: 'WS /process/pty/create-connect', effect: { kind: 'status', status: 502 } })
  expect(await rejection(open(sandbox))).toMatchObject({ name: 'DaytonaConnectionError', message: '[object Object]' })
})

test('a stop under a terminal ends it without a code', async () => {
  const { sandbox } = await openSandbox()
  const { handle } = await open(sandbox)
  const end = handle.wait()
  await sandbox.stop()
  expect((await end).exitCode).toBeUndefined()
  expect(handle.isConnected()).toBe(false)
})

test('a message of more than 64 KiB ends the connection, not the terminal', async () => {
  const { sandbox } = await openSandbox()
  const { handle } = await open(sandbox)
  await handle.sendInput(Buffer.alloc(65 * 1_024, 'x'))
  await until('the end', () => !handle.isConnected())
  expect(await sandbox.process.listPtySessions()).toHaveLength(1)
})

test('daemon 0.190 creates by POST and knows no create-connect', async () => {
  const { server, sandbox } = await openSandbox({ daemon: '0.190' })
  expect(await rejection(open(sandbox))).toMatchObject({ message: '[object Object]' })
  const body = { id: 'old', cols: 80, rows: 24 }
  expect((await callToolbox(server, sandbox, 'POST', '/process/pty', body)).status).toBe(201)
  expect((await callToolbox(server, sandbox, 'POST', '/process/pty', body)).status).toBe(409)
  const terminal = raw(server, sandbox, 'old/connect', [])
  await until('the connection', () => terminal.texts.length > 0)
  terminal.socket.send(Buffer.from('exit 2\n'))
  expect(await terminal.end).toMatchObject({ code: 1011, reason: expect.stringContaining('"exitCode":2') })
  expect(terminal.texts).toHaveLength(1)
})
