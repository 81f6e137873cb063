import type { Sandbox } from '@daytonaio/sdk'
import { expect, test } from 'vitest'
import { callToolbox, isAlive, openSandbox, rejection, until } from '../../fixtures/daytona-fixture.ts'
import { startWithPid } from '../../fixtures/start-with-pid.ts'

async function openSession(): Promise<Awaited<ReturnType<typeof openSandbox>>> {
  const fixture = await openSandbox({ logIdleMs: 50 })
  await fixture.sandbox.process.createSession('s')
  return fixture
}

async function start(sandbox: Sandbox, command: string, extra: { suppressInputEcho?: boolean } = {}): Promise<string> {
  const { cmdId } = await sandbox.process.executeSessionCommand('s', { command, runAsync: true, ...extra })
  return cmdId ?? ''
}

async function finished(sandbox: Sandbox, cmdId: string): Promise<number | undefined> {
  let exitCode: number | undefined
  await until('an exit code', async () => {
    exitCode = (await sandbox.process.getSessionCommand('s', cmdId)).exitCode
    return exitCode !== undefined
  })
  return exitCode
}

test('one shell serves all commands: directory, variables and functions stay', async () => {
  const { sandbox, home } = await openSession()
  await sandbox.process.executeSessionCommand('s', { command: 'mkdir d; cd d; export A=1; f() { echo "f $A"; }' })
  const result = await sandbox.process.executeSessionCommand('s', { command: 'pwd; f; echo oops >&2; false' })
  expect(result).toMatchObject({ stdout: `${home}/d\nf 1\n`, stderr: 'oops\n', exitCode: 1 })
  expect(result.output).toBe(`\x01\x01\x01${home}/d\n\x01\x01\x01f 1\n\x02\x02\x02oops\n`)
})

test('commands of a session run one after the other, asynchronous ones too', async () => {
  const { sandbox } = await openSession()
  const first = await start(sandbox, 'sleep 0.2; echo first >> order')
  const second = await start(sandbox, 'echo second >> order')
  expect((await sandbox.process.getSessionCommand('s', first)).exitCode).toBeUndefined()
  expect(await finished(sandbox, second)).toBe(0)
  expect((await sandbox.process.executeCommand('cat order')).result).toBe('first\nsecond\n')
})

test.each(['exit 3', 'exec true', 'set -e; false'])(
  'a top-level "%s" ends the shell: no exit code, no later command',
  async (command) => {
    const { sandbox } = await openSession()
    const cmdId = await start(sandbox, `echo said; ${command}`)
    await until('the output', async () => (await sandbox.process.getSessionCommandLogs('s', cmdId)).stdout === 'said\n')
    const later = await start(sandbox, 'touch ran')
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await sandbox.process.getSessionCommand('s', cmdId)).not.toHaveProperty('exitCode')
    expect(await sandbox.process.getSessionCommand('s', later)).not.toHaveProperty('exitCode')
    expect((await sandbox.process.executeCommand('test -e ran')).exitCode).toBe(1)
    expect((await sandbox.process.getSession('s')).commands).toHaveLength(2)
  },
)

test('an exit in a subshell ends only that', async () => {
  const { sandbox } = await openSession()
  expect((await sandbox.process.executeSessionCommand('s', { command: '( exit 3 )' })).exitCode).toBe(3)
  expect((await sandbox.process.executeSessionCommand('s', { command: 'echo on' })).stdout).toBe('on\n')
})

test('a background child that holds the output delays the exit code, not the next command', async () => {
  const { sandbox } = await openSession()
  const startedAt = performance.now()
  const first = await start(sandbox, 'sleep 0.5 & echo done')
  const second = await start(sandbox, 'true')
  await finished(sandbox, second)
  expect(performance.now() - startedAt).toBeLessThan(450)
  expect((await sandbox.process.getSessionCommand('s', first)).exitCode).toBeUndefined()
  expect(await finished(sandbox, first)).toBe(0)
  expect(performance.now() - startedAt).toBeGreaterThan(450)
})

test('output is kept by the line: NULs go, a last line gets its newline', async () => {
  const { sandbox } = await openSession()
  const result = await sandbox.process.executeSessionCommand('s', { command: "printf 'a\\000b\\nlast'" })
  expect(result).toMatchObject({ stdout: 'ab\nlast\n', stderr: '' })
  const cmdId = await start(sandbox, 'printf prompt; sleep 0.3; echo')
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect((await sandbox.process.getSessionCommandLogs('s', cmdId)).stdout).toBe('')
})

test('a synchronous command sees the end of its input', async () => {
  const { sandbox } = await openSession()
  expect(await sandbox.process.executeSessionCommand('s', { command: 'cat; echo "end $?"' })).toMatchObject({
    stdout: 'end 0\n',
  })
})

test('input reaches an asynchronous command as lines, and its echo the log', async () => {
  const { sandbox } = await openSession()
  const cmdId = await start(sandbox, 'read a; read b; echo "[$a][$b]"')
  await sandbox.process.sendSessionCommandInput('s', cmdId, 'one')
  await sandbox.process.sendSessionCommandInput('s', cmdId, 'two\n')
  expect(await finished(sandbox, cmdId)).toBe(0)
  expect((await sandbox.process.getSessionCommandLogs('s', cmdId)).stdout).toBe('one\ntwo\n[one][two]\n')
})

test('the echo of input can be suppressed', async () => {
  const { sandbox } = await openSession()
  const cmdId = await start(sandbox, 'read a; echo "[$a]"', { suppressInputEcho: true })
  await sandbox.process.sendSessionCommandInput('s', cmdId, 'quiet')
  await finished(sandbox, cmdId)
  expect((await sandbox.process.getSessionCommandLogs('s', cmdId)).stdout).toBe('[quiet]\n')
})

test('input to a queued command waits for its turn', async () => {
  const { sandbox } = await openSession()
  await start(sandbox, 'sleep 0.3')
  const queued = await start(sandbox, 'read a; echo "got $a"')
  const startedAt = performance.now()
  await sandbox.process.sendSessionCommandInput('s', queued, 'x')
  expect(performance.now() - startedAt).toBeGreaterThan(150)
  expect(await finished(sandbox, queued)).toBe(0)
})

test('input after the end is 410, by reason', async () => {
  const { sandbox } = await openSession()
  const done = await start(sandbox, 'true')
  await finished(sandbox, done)
  expect(await rejection(sandbox.process.sendSessionCommandInput('s', done, 'x'))).toMatchObject({
    statusCode: 410,
    code: 'COMMAND_ALREADY_COMPLETED',
  })
  const fatal = await start(sandbox, 'exit 1')
  const later = await start(sandbox, 'never runs')
  const queued = rejection(sandbox.process.sendSessionCommandInput('s', later, 'x'))
  expect(await queued).toMatchObject({ code: 'SESSION_ENDED' })
  expect(await rejection(sandbox.process.sendSessionCommandInput('s', fatal, 'x'))).toMatchObject({
    code: 'SESSION_ENDED',
  })
})

test('a delete kills the whole tree of a running command', async () => {
  const { sandbox } = await openSession()
  await start(sandbox, "echo $$ > shell; sh -c 'echo $$ > child; sleep 60'")
  await until('the child', async () => (await sandbox.process.executeCommand('test -s child')).exitCode === 0)
  const pids = (await sandbox.process.executeCommand('cat shell child')).result.trim().split('\n').map(Number)
  expect(pids.map(isAlive)).toEqual([true, true])
  await sandbox.process.deleteSession('s')
  await until('both to be gone', () => !pids.some(isAlive))
  expect(await rejection(sandbox.process.getSession('s'))).toMatchObject({ statusCode: 404 })
})

test('who ignores SIGTERM gets SIGKILL; who left the group as a daemon survives until the stop', async () => {
  const { server, sandbox } = await openSession()
  server.configure({ sessionGraceMs: 300 })
  await start(
    sandbox,
    "setsid sh -c 'echo $$ > away; exec sleep 60' & trap '' TERM; sh -c 'echo $$ > stubborn; sleep 60'",
  )
  const file = async (name: string): Promise<number> =>
    Number((await sandbox.process.executeCommand(`cat ${name}`)).result)
  await until('both', async () => (await file('away')) > 0 && (await file('stubborn')) > 0)
  const [away, stubborn] = [await file('away'), await file('stubborn')]
  await sandbox.process.executeCommand('setsid -f sh -c "echo \\$\\$ > daemon; exec sleep 60" >/dev/null 2>&1')
  await until('the daemon', async () => (await file('daemon')) > 0)
  const daemon = await file('daemon')
  await sandbox.process.deleteSession('s')
  await until('both to be gone', () => ![stubborn, away].some(isAlive))
  expect(isAlive(daemon)).toBe(true)
  await sandbox.stop()
  await until('the daemon to be gone', () => !isAlive(daemon))
})

test('a session that waits for a command is let go with 410 when it is deleted', async () => {
  const { sandbox } = await openSession()
  const waiting = rejection(sandbox.process.executeSessionCommand('s', { command: 'sleep 60' }))
  await until('the command', async () => (await sandbox.process.getSession('s')).commands?.length === 1)
  await sandbox.process.deleteSession('s')
  expect(await waiting).toMatchObject({ statusCode: 410 })
})

test('sessions are listed without the entrypoint; a taken id is 409, the reserved one 400, an unknown one 404', async () => {
  const { sandbox } = await openSession()
  expect(await sandbox.process.listSessions()).toEqual([{ sessionId: 's', commands: [] }])
  expect(await rejection(sandbox.process.createSession('s'))).toMatchObject({ statusCode: 409 })
  expect(await rejection(sandbox.process.createSession('entrypoint'))).toMatchObject({ statusCode: 400 })
  expect(await rejection(sandbox.process.deleteSession('t'))).toMatchObject({ statusCode: 404 })
  expect(await rejection(sandbox.process.getSessionCommand('s', 'x'))).toMatchObject({ statusCode: 404 })
  expect(await sandbox.process.getEntrypointSession()).toMatchObject({ sessionId: 'entrypoint' })
})

test('on the wire: 201 without a body, 202 for asynchronous, 204 for a delete, 400 for a blank command', async () => {
  const { server, sandbox } = await openSandbox()
  const status = async (method: string, path: string, body?: object): Promise<number> =>
    (await callToolbox(server, sandbox, method, path, body)).status
  expect(await status('POST', '/process/session', { sessionId: 'w' })).toBe(201)
  expect(await status('POST', '/process/session/w/exec', { command: 'true', runAsync: true })).toBe(202)
  expect(await status('POST', '/process/session/w/exec', { command: 'true', async: true })).toBe(202)
  expect(await status('POST', '/process/session/w/exec', { command: 'true' })).toBe(200)
  expect(await status('POST', '/process/session/w/exec', { command: ' ' })).toBe(400)
  expect(await status('DELETE', '/process/session/w')).toBe(204)
})

test('a client of before 0.167 gets the log as plain text', async () => {
  const { server, sandbox } = await openSession()
  const { cmdId } = await sandbox.process.executeSessionCommand('s', { command: 'echo hi' })
  const response = await fetch(`${sandbox.toolboxProxyUrl}/${sandbox.id}/process/session/s/command/${cmdId}/logs`, {
    headers: { authorization: `Bearer ${server.apiKey}`, 'x-daytona-sdk-version': '0.166.2' },
  })
  expect(await response.text()).toBe('\x01\x01\x01hi\n')
})

test('a session whose shell has exited signals nobody who has got its process id since', async (context) => {
  const { sandbox } = await openSession()
  const { stdout } = await sandbox.process.executeSessionCommand('s', { command: 'echo $$' })
  const shellPid = Number(stdout)
  await start(sandbox, 'exit 0')
  await until('the end of the shell', async () => !isAlive(shellPid))
  const stranger = startWithPid(shellPid)
  if (stranger === undefined) return context.skip('The machine does not let a test choose a process id.')
  try {
    await sandbox.process.deleteSession('s')
    await sandbox.delete()
    expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null])
    expect(isAlive(shellPid)).toBe(true)
  } finally {
    stranger.kill('SIGKILL')
  }
})
