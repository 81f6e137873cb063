import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { FrameReader, frameText } from '../../src/script/frames.ts'
import type { Frame } from '../../src/script/frames.ts'
import { killScript } from '../../src/script/kill-script.ts'
import { runScript } from '../../src/script/run-script.ts'
import type { RunScriptInput } from '../../src/script/run-script.ts'
import { newNonce } from '../../src/naming.ts'

const stateDir = mkdtempSync(join(tmpdir(), 'hf-run-script-'))
afterAll(() => rmSync(stateDir, { recursive: true, force: true }))

/** A command as the daemon runs it: text on the standard input of a fresh shell. */
function feed(shell: string, text: string, env: Record<string, string> = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(shell, [], { env: { PATH: process.env['PATH'], ...env } }, (error, stdout) =>
      error && typeof error.code !== 'number' ? reject(error) : resolve(stdout),
    )
    child.stdin?.end(text)
  })
}

function input(command: string, more: Partial<RunScriptInput> = {}): RunScriptInput {
  return {
    nonce: newNonce(),
    stateDir,
    command,
    cwd: stateDir,
    sentNames: [],
    carriedVars: {},
    stdin: new Uint8Array(),
    mode: { kind: 'direct', waitMs: 5_000, maxBytes: undefined },
    from: { stdout: 0, stderr: 0 },
    finished: [],
    ...more,
  }
}

async function run(shell: string, command: string, more: Partial<RunScriptInput> = {}, env = {}) {
  const given = input(command, more)
  const frames = FrameReader.readAll(given.nonce, await feed(shell, runScript(given), env))
  const of = (kind: string): string =>
    Buffer.concat(frames.filter((f) => f.kind === kind).map((f) => Buffer.from(f.payload, 'base64'))).toString('utf8')
  return { out: of('o'), err: of('e'), end: frames.at(-1), frames, given }
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

const shells = ['/bin/bash', '/bin/dash', '/bin/zsh'].filter((path) => existsSync(path))

describe.each(shells)('the run script in %s', (shell) => {
  test('keeps both outputs and the exit code apart', async () => {
    const { out, err, end } = await run(shell, 'echo one; echo two >&2; exit 3')
    expect([out, err, end]).toEqual(['one\n', 'two\n', { kind: 'x', payload: '3' }])
  })

  test.each([
    ['a here-document', 'cat <<EOF\nline "one" $((1+1))\nEOF', 'line "one" 2\n'],
    ['a trailing comment', "echo 'it''s' # done", 'its\n'],
    ['a command that ends in a backslash', 'echo x\\', 'x\\\n'],
    ['quotes and backquotes', `printf '%s' '"$(x)\`'`, '"$(x)`'],
  ])('runs %s', async (_title, command, out) => {
    expect(await run(shell, command)).toMatchObject({ out, end: { kind: 'x', payload: '0' } })
  })

  test('does not wait for a background child that keeps the outputs open', async () => {
    const before = Date.now()
    expect(await run(shell, 'sleep 30 & echo hi')).toMatchObject({ out: 'hi\n' })
    expect(Date.now() - before).toBeLessThan(5_000)
  })

  test('gives end of file on standard input, or the bytes that were given', async () => {
    expect((await run(shell, 'cat; echo end')).out).toBe('end\n')
    expect((await run(shell, 'cat', { stdin: Buffer.from('a\0b') })).out).toBe('a\0b')
  })

  test('runs a command once however often the script is sent', async () => {
    const given = input('echo run >>"$PWD/count"; sleep 0.3; wc -l <count', { nonce: newNonce() })
    const answers = await Promise.all([1, 2, 3].map(() => feed(shell, runScript(given))))
    answers.push(await feed(shell, runScript(given)))
    for (const answer of answers) {
      expect(frameText(FrameReader.readAll(given.nonce, answer)[0]!).trim()).toBe('1')
    }
    rmSync(join(stateDir, 'count'))
  })

  test('says late and can be joined later', async () => {
    const mayEnd = join(stateDir, 'may-end')
    const first = await run(shell, `echo early; until [ -e ${mayEnd} ]; do sleep 0.05; done; echo rest`, {
      mode: { kind: 'direct', waitMs: 1, maxBytes: undefined },
    })
    expect(first.end?.kind).toBe('l')
    writeFileSync(mayEnd, '')
    const again = await run(shell, 'ignored', { nonce: first.given.nonce, from: { stdout: 6, stderr: 0 } })
    expect(again).toMatchObject({ out: 'rest\n', end: { kind: 'x', payload: '0' } })
    rmSync(mayEnd)
  })

  test('follows output until the end', async () => {
    const { out, err, frames } = await run(shell, 'echo a; sleep 0.2; echo b >&2; printf c', {
      mode: { kind: 'follow', attempt: 1 },
    })
    expect([out, err]).toEqual(['a\nc', 'b\n'])
    expect(frames.slice(0, 2).map(({ kind }) => kind)).toEqual(['p', 's'])
    expect(frames.at(-1)).toEqual({ kind: 'x', payload: '0' })
  })

  test('says that a working directory is missing', async () => {
    expect((await run(shell, 'echo x', { cwd: '/not/there' })).end).toEqual({ kind: 'f', payload: '-' })
  })

  test('sets variables whatever they hold', async () => {
    const value = `a 'b' "$(x)" \`y\`\n~ é`
    const carried = await run(shell, 'printf %s "$V"', { carriedVars: { V: value } })
    const sent = await run(shell, 'printf %s "$V"', { sentNames: ['V'] }, { V: value })
    expect([carried.out, sent.out]).toEqual([value, value])
  })

  test('survives a caller whose PATH is useless', async () => {
    const { out } = await run(shell, 'printf %s "$PATH"', { sentNames: ['PATH'] }, { PATH: '/nowhere' })
    expect(out).toBe('/nowhere')
  })

  test('says what a killed shell gave', async () => {
    expect((await run(shell, 'kill -9 $$')).end).toEqual({ kind: 'x', payload: '137' })
    expect((await run(shell, 'kill 0; sleep 1')).end).toEqual({ kind: 'x', payload: '143' })
  })

  test('the kill script ends children that left the group, and proves it', async () => {
    const given = input('setsid sleep 41.5 & setsid sleep 41.5 & sleep 41.5', {
      mode: { kind: 'direct', waitMs: 1, maxBytes: undefined },
    })
    await feed(shell, runScript(given))
    const kill = killScript({ nonce: given.nonce, stateDir, signal: 'TERM', graceMs: 1_000 })
    expect(FrameReader.readAll(given.nonce, await feed(shell, kill)).at(-1)?.kind).toBe('g')
    expect(await feed('/bin/sh', 'ps ax | grep -c "[s]leep 41.5"')).toBe('0\n')
    const after = await run(shell, 'ignored', { nonce: given.nonce })
    expect(after.end).toEqual({ kind: 'x', payload: '143' })
  })

  test('the kill script escalates when a process ignores the signal', async () => {
    const given = input('trap "" TERM; while :; do sleep 0.1; done', {
      mode: { kind: 'direct', waitMs: 1, maxBytes: undefined },
    })
    await feed(shell, runScript(given))
    const kill = killScript({ nonce: given.nonce, stateDir, signal: 'TERM', graceMs: 200 })
    expect(FrameReader.readAll(given.nonce, await feed(shell, kill)).at(-1)?.kind).toBe('g')
    expect((await run(shell, 'ignored', { nonce: given.nonce })).end).toEqual({ kind: 'x', payload: '137' })
  })

  test('a run that was killed before it began never begins', async () => {
    const given = input('touch began')
    await feed(shell, killScript({ nonce: given.nonce, stateDir, signal: 'KILL', graceMs: 100 }))
    expect((await run(shell, 'touch began', { nonce: given.nonce })).end?.kind).toBe('k')
    expect(existsSync(join(stateDir, 'began'))).toBe(false)
  })

  test('a supervisor that dies leaves no invented exit code', async () => {
    const given = input('sleep 20', { mode: { kind: 'direct', waitMs: 1, maxBytes: undefined } })
    await feed(shell, runScript(given))
    await feed('/bin/sh', `kill -9 $(cat ${stateDir}/run/${given.nonce}/sup)`)
    expect((await run(shell, 'ignored', { nonce: given.nonce })).end?.kind).toBe('u')
    await feed(shell, killScript({ nonce: given.nonce, stateDir, signal: 'KILL', graceMs: 100 }))
  })

  /** A script in a session of its own, which stays open until the script is over. */
  function inSession(given: RunScriptInput) {
    const child = spawn(shell, ['-c', runScript(given)], { stdio: ['pipe', 'pipe', 'inherit'] })
    let text = ''
    const hasStarted = (): boolean => FrameReader.readAll(given.nonce, text).some(({ kind }) => kind === 's')
    child.stdout.on('data', (data: Buffer) => (text += data.toString()))
    const end = new Promise<{ out: string; end: Frame | undefined }>((resolve) => {
      child.once('close', () => {
        const frames = FrameReader.readAll(given.nonce, text)
        const out = frames.filter((f) => f.kind === 'o').map(frameText)
        resolve({ out: out.join(''), end: frames.at(-1) })
      })
    })
    return { end, hasStarted, write: (lines: string) => void child.stdin.write(lines) }
  }

  const line = (n: number, data: string): string => `${n} ${Buffer.from(data).toString('base64')}\n`

  test('standard input that comes in numbered lines arrives once each and ends', async () => {
    const session = inSession(input('cat; echo end', { stdin: 'pipe', mode: { kind: 'follow', attempt: 1 } }))
    session.write(line(1, 'one,') + line(1, 'one,') + line(2, 'two'))
    session.write('3 .\n')
    expect(await session.end).toEqual({ out: 'one,twoend\n', end: { kind: 'x', payload: '0' } })
  })

  /** One command; each session of it is another attempt to start it. */
  function attemptsAt(command: string) {
    const given = input(command, { stdin: 'pipe' })
    return {
      given,
      attempt: (attempt: number) => inSession({ ...given, mode: { kind: 'follow', attempt } }),
    }
  }

  test('a session that joins a command gives it its input', async () => {
    const { given, attempt } = attemptsAt('cat; echo end')
    const feeder = (): string => readIfThere(join(stateDir, 'run', given.nonce, 'feed'))
    const sessions = []
    for (let count = 1; count <= 3; count += 1) {
      const before = feeder()
      sessions.push(attempt(count))
      await expect.poll(feeder, { timeout: 10_000 }).not.toBe(before)
    }
    sessions.at(-1)?.write(line(1, 'all of it,'))
    sessions.at(-1)?.write('2 .\n')
    for (const { end } of sessions) {
      expect(await end).toEqual({ out: 'all of it,end\n', end: { kind: 'x', payload: '0' } })
    }
  })

  test('a session of an earlier attempt that is slow to start leaves the input to the later one', async () => {
    const { attempt } = attemptsAt('cat; echo end')
    const later = attempt(2)
    await expect.poll(later.hasStarted, { timeout: 10_000 }).toBe(true)
    const earlier = attempt(1)
    await expect.poll(earlier.hasStarted, { timeout: 10_000 }).toBe(true)
    later.write(line(1, 'all of it,') + '2 .\n')
    for (const { end } of [later, earlier]) {
      expect(await end).toEqual({ out: 'all of it,end\n', end: { kind: 'x', payload: '0' } })
    }
  })

  test('a command that needs a session for its input does not begin without one', async () => {
    const { end } = await run(shell, 'touch begun', { stdin: 'pipe' })
    expect(end?.kind).toBe('k')
    expect(existsSync(join(stateDir, 'begun'))).toBe(false)
  })
})
