import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startDaytonaServer } from '@holdfast/testing/daytona'
import { expect, onTestFinished, test } from 'vitest'
import { runDaytonaProgram } from '../../../src/daytona/daytona-program.ts'
import { connect, isAlive, until } from '../../fixtures/daytona-fixture.ts'

test('close ends every process, however it got away, and removes the files', async () => {
  const server = await startDaytonaServer()
  const sandbox = await connect(server).create()
  const home = (await sandbox.getWorkDir()) ?? ''
  await sandbox.process.createSession('s')
  await sandbox.process.executeSessionCommand('s', { command: 'sleep 60 & echo $! > one; sleep 60', runAsync: true })
  await sandbox.process.executeCommand("setsid -f sh -c 'echo $$ > two; exec sleep 60' >/dev/null 2>&1")
  await until('both', async () => (await sandbox.process.executeCommand('test -s one && test -s two')).exitCode === 0)
  const pids = (await sandbox.process.executeCommand('cat one two')).result.trim().split('\n').map(Number)
  expect(pids.map(isAlive)).toEqual([true, true])
  await server.close()
  await server.close()
  await until('both to be gone', () => !pids.some(isAlive))
  expect(existsSync(home)).toBe(false)
  await expect(fetch(server.url)).rejects.toThrow()
})

test('a close with requests that hang ends all the same', async () => {
  const server = await startDaytonaServer({ events: 'silent' })
  const daytona = connect(server, { useDeprecatedPolling: false })
  server.setFault({ on: 'POST /sandbox', effect: { kind: 'hang' } })
  const hanging = daytona.create().catch((error: Error) => error.name)
  await until('the request', () => server.requests.count() === 1)
  await server.close()
  expect(await hanging).toBe('DaytonaConnectionError')
})

test('nothing survives the death of the process that held the server', async () => {
  const script = fileURLToPath(new URL('../fixtures/hold-daytona.mjs', import.meta.url))
  const holder = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void holder.kill('SIGKILL'))
  const line = await new Promise<string>((resolve, reject) => {
    holder.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString()))
    holder.once('exit', (code) => reject(new Error(`The holder ended early with ${code}.`)))
  })
  const { homeDir, pid } = JSON.parse(line) as { homeDir: string; pid: number }
  expect([existsSync(homeDir), isAlive(pid)]).toEqual([true, true])
  holder.kill('SIGKILL')
  await until('the process to be gone', () => !isAlive(pid))
  await until('the files to be gone', () => !existsSync(homeDir))
}, 20_000)

test('the program prints what a client needs, and takes key and seed from its arguments', async () => {
  const lines: string[] = []
  const print = (line: string): void => void lines.push(line)
  const server = await runDaytonaProgram({ argv: ['--api-key', 'mine', '--seed', '3'], env: {}, print })
  onTestFinished(() => server.close())
  expect(lines).toEqual([`DAYTONA_API_URL=${server.url}`, 'DAYTONA_API_KEY=mine'])
  await expect(runDaytonaProgram({ argv: ['--port', 'x'], env: {}, print })).rejects.toThrow(TypeError)
})
