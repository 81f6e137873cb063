import { describe, expect, test } from 'vitest'
import { callToolbox, isAlive, openSandbox, rejection, until } from '../../fixtures/daytona-fixture.ts'

test('both outputs come as one, in order, with the exit code', async () => {
  const { sandbox } = await openSandbox()
  const result = await sandbox.process.executeCommand(
    'echo a; echo b >&2; echo c > /dev/stdout; echo d > /dev/stderr; exit 3',
  )
  expect(result).toMatchObject({ exitCode: 3, result: 'a\nb\nc\nd\n', artifacts: { stdout: 'a\nb\nc\nd\n' } })
})

test('every run is a new shell in the work directory', async () => {
  const { sandbox, home } = await openSandbox()
  await sandbox.process.executeCommand('mkdir sub; cd sub; export X=1')
  expect((await sandbox.process.executeCommand('pwd; echo "[$X]"')).result).toBe(`${home}\n[]\n`)
  expect((await sandbox.process.executeCommand('pwd', 'sub')).result).toBe(`${home}/sub\n`)
  expect(await sandbox.getUserHomeDir()).toBe(home)
})

test('a missing working directory is an exit code of -1, not an error', async () => {
  const { sandbox } = await openSandbox()
  expect(await sandbox.process.executeCommand('true', 'nowhere')).toMatchObject({
    exitCode: -1,
    result: expect.stringContaining('no such file or directory'),
  })
})

test('a shell that is killed is -1, a child that is killed 128 and its signal', async () => {
  const { sandbox } = await openSandbox()
  expect((await sandbox.process.executeCommand('kill -9 $$')).exitCode).toBe(-1)
  expect((await sandbox.process.executeCommand('sh -c "kill -9 \\$\\$"; exit $?')).exitCode).toBe(137)
})

test('a command is the input of its shell, so that reading input eats the rest', async () => {
  const { sandbox } = await openSandbox()
  expect((await sandbox.process.executeCommand('cat\necho eaten')).result).toBe('echo eaten')
})

test('a time-out kills the group, loses the output and answers 408', async () => {
  const { sandbox } = await openSandbox()
  const startedAt = performance.now()
  const error = await rejection(
    sandbox.process.executeCommand('echo $$ > pid; echo lost; sleep 30', undefined, undefined, 1),
  )
  expect(performance.now() - startedAt).toBeLessThan(2_500)
  expect(error).toMatchObject({
    name: 'DaytonaProcessExecutionTimeoutError',
    statusCode: 408,
    code: 'PROCESS_EXECUTION_TIMEOUT',
  })
  const pid = Number((await sandbox.process.executeCommand('cat pid')).result)
  await until('the shell to be gone', () => !isAlive(pid))
})

test('a child in the background that holds the output keeps the call open', async () => {
  const { sandbox } = await openSandbox()
  const startedAt = performance.now()
  await sandbox.process.executeCommand('sleep 0.4 & echo done')
  expect(performance.now() - startedAt).toBeGreaterThan(390)
})

test('a caller that goes away does not end the command', async () => {
  const { server, sandbox } = await openSandbox()
  const controller = new AbortController()
  const call = fetch(`${sandbox.toolboxProxyUrl}/${sandbox.id}/process/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.apiKey}` },
    body: JSON.stringify({ command: 'touch started; sleep 0.3; touch finished' }),
    signal: controller.signal,
  }).catch(() => undefined)
  await until('the start', async () => (await sandbox.process.executeCommand('test -e started')).exitCode === 0)
  controller.abort()
  await call
  await until('the end', async () => (await sandbox.process.executeCommand('test -e finished')).exitCode === 0)
})

test('bytes that are no UTF-8 become replacement characters', async () => {
  const { sandbox } = await openSandbox()
  expect((await sandbox.process.executeCommand("printf 'a\\377b'")).result).toBe('a\uFFFDb')
})

test('variables of the sandbox, of an update and of one call reach commands; this machine’s own do not', async () => {
  process.env['HOST_SECRET'] = 'leak'
  const { sandbox } = await openSandbox()
  await sandbox.updateEnv({ LATER: 'set' })
  const { result } = await sandbox.process.executeCommand('echo "$LATER $ONCE [$HOST_SECRET]"', undefined, {
    ONCE: 'one call',
  })
  expect(result).toBe('set one call []\n')
  await sandbox.updateEnv({}, { unset: ['LATER'] })
  expect((await sandbox.process.executeCommand('echo "[$LATER]"')).result).toBe('[]\n')
  delete process.env['HOST_SECRET']
})

describe('a request is 400', () => {
  test.each([
    ['with a blank command', { command: ' \n' }],
    ['with a fraction of a second', { command: 'true', timeout: 1.5 }],
    ['with a negative time-out', { command: 'true', timeout: -1 }],
    ['with a bad variable name', { command: 'true', envs: { 'A;touch x': '1' } }],
    ['that is no object', 'true'],
  ])('%s', async (_what, body) => {
    const { server, sandbox } = await openSandbox()
    const response = await callToolbox(server, sandbox, 'POST', '/process/execute', body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ statusCode: 400, source: 'DAYTONA_DAEMON', code: expect.any(String) })
  })
})

test.each(['stop', 'kill', 'delete'] as const)(
  'a %s under a running command ends it, and its call with 502',
  async (how) => {
    const { server, sandbox, home } = await openSandbox()
    const running = rejection(sandbox.process.executeCommand(`echo $$ > ${home}/../../pid; setsid sleep 60 & sleep 60`))
    await until('the start', async () => (await sandbox.process.executeCommand('test -s ../../pid')).exitCode === 0)
    const pid = Number((await sandbox.process.executeCommand('cat ../../pid')).result)
    if (how === 'stop') await sandbox.stop()
    else if (how === 'kill') await server.killSandbox(sandbox.id)
    else await sandbox.delete()
    expect(await running).toMatchObject({ statusCode: 502 })
    await until('the shell to be gone', () => !isAlive(pid))
  },
)

test('code runs in the language of the sandbox', async () => {
  const { daytona } = await openSandbox()
  const sandbox = await daytona.create({ language: 'javascript' })
  expect(await sandbox.process.codeRun('console.log(6 * 7)')).toMatchObject({ exitCode: 0, result: '42\n' })
})
