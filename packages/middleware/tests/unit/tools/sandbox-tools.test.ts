import { UnsupportedError } from '@holdfast/core'
import type { Tool } from '@tanstack/ai'
import { describe, expect, it } from 'vitest'
import { SecretRedactor } from '../../../src/secrets/secret-redactor.ts'
import { bindSandboxTools } from '../../../src/tools/bind-sandbox-tools.ts'
import { HeadTailText } from '../../../src/tools/head-tail-text.ts'
import { sandboxTools } from '../../../src/tools/sandbox-tools.ts'
import { chatWith, resultsOf, toolsFixture } from './tools-fixture.ts'

describe('sandboxTools', () => {
  it('refuses unknown names and useless limits', () => {
    const invalid = expect.objectContaining({ code: 'INVALID_CONFIGURATION' })
    expect(() => sandboxTools({ include: ['fly' as 'bash'] })).toThrow(invalid)
    expect(() => sandboxTools({ maxOutputBytes: 0 })).toThrow(invalid)
  })

  it('do nothing without a sandbox, and say what is missing', async () => {
    for (const tool of sandboxTools()) {
      const run = async (): Promise<unknown> => tool.execute?.({}, undefined as never)
      await expect(run()).rejects.toThrow('withSandbox')
    }
  })

  it('leave a tool of somebody else alone, whatever its name', async () => {
    const f = await toolsFixture()
    const foreign: Tool = { name: 'bash', description: 'x', execute: () => 'mine' }
    expect(bindSandboxTools([foreign], f.binding())[0]).toBe(foreign)
  })

  it('of one run never use the sandbox of another', async () => {
    const [a, b] = [await toolsFixture(), await toolsFixture()]
    const tools = sandboxTools({ include: ['write_file'] })
    const [toA] = bindSandboxTools(tools, a.binding())
    const [toB] = bindSandboxTools(tools, b.binding())
    await toA?.execute?.({ path: 'x', content: 'a' }, undefined as never)
    await toB?.execute?.({ path: 'x', content: 'b' }, undefined as never)
    expect([await a.handle.fs.read('x'), await b.handle.fs.read('x')]).toEqual(['a', 'b'])
  })
})

describe('in a chat', () => {
  it('a hostile path becomes an error result and the run goes on', async () => {
    const f = await toolsFixture()
    const paths = ['../../etc/passwd', '/etc/passwd', 'a\0b', 'missing']
    const turns = [paths.map((path) => ({ call: 'read_file', args: { path } })), [{ say: 'done' }]]
    const chunks = await chatWith({ turns, binding: f.binding() })
    const results = Object.values(resultsOf(chunks))
    expect(results).toHaveLength(4)
    for (const result of results) expect(result).toEqual({ error: expect.any(String) })
    expect(JSON.stringify(chunks)).not.toContain('root:x:0')
    expect(JSON.stringify(chunks)).toContain('done')
  })

  it('malformed input becomes an error result', async () => {
    const f = await toolsFixture()
    const turns = [
      [
        { call: 'bash', args: { command: 5 } },
        { call: 'open_port', args: { port: 99_999 } },
      ],
      [{ say: 'done' }],
    ]
    for (const result of Object.values(resultsOf(await chatWith({ turns, binding: f.binding() })))) {
      expect(result).toEqual({ error: expect.stringContaining('validation failed') })
    }
  })
})

describe('bash', () => {
  it('returns both outputs and the exit code, and shows them live under the id of the call', async () => {
    const f = await toolsFixture()
    const result = await f.call('bash', { command: 'echo out; echo err >&2; exit 3' })
    expect(result).toEqual({ stdout: 'out\n', stderr: 'err\n', exitCode: 3 })
    expect(f.emitted).toContainEqual({ name: 'process.stdout', value: { processId: 'call-1', chunk: 'out\n' } })
    expect(f.emitted).toContainEqual({ name: 'process.stderr', value: { processId: 'call-1', chunk: 'err\n' } })
  })

  it('shows output while the command still runs', async () => {
    const f = await toolsFixture()
    let shown: () => void
    const first = new Promise<void>((resolve) => (shown = resolve))
    const running = f.call(
      'bash',
      { command: 'echo tick; while [ ! -e go ]; do sleep 0.02; done' },
      { emit: () => shown() },
    )
    await first
    await f.handle.fs.write('go', '')
    expect(await running).toMatchObject({ stdout: 'tick\n', exitCode: 0 })
  })

  it('keeps the beginning and the end of a long output, and stops showing it at some point', async () => {
    const f = await toolsFixture()
    const [bash] = bindSandboxTools(sandboxTools({ include: ['bash'], maxOutputBytes: 1_000 }), f.binding())
    const command = 'echo first; head -c 2000000 /dev/zero | tr "\\0" x; echo; echo last'
    const result = (await bash?.execute?.({ command }, undefined as never)) as { stdout: string }
    expect(result).toMatchObject({ truncated: true, exitCode: 0 })
    expect(result.stdout).toMatch(/^first\nx+\n\[\.\.\. \d+ bytes left out \.\.\.\]\nx+\nlast\n$/)
    expect(result.stdout.length).toBeLessThan(1_100)
    const shown = f.emitted.reduce((sum, { value }) => sum + String(value['chunk']).length, 0)
    expect(shown).toBeLessThanOrEqual(256 * 1024)
    expect(f.emitted.filter(({ value }) => value['truncated'] === true)).toEqual([f.emitted.at(-1)])
  })

  it('ends a command that takes too long, and says so', async () => {
    const f = await toolsFixture()
    expect(await f.call('bash', { command: 'echo start; sleep 30', timeoutMs: 300 })).toEqual({
      stdout: 'start\n',
      stderr: '',
      exitCode: 124,
      timedOut: true,
    })
  })

  it('ends with the run', async () => {
    const f = await toolsFixture()
    const controller = new AbortController()
    const running = f.call(
      'bash',
      { command: 'echo start; sleep 30' },
      { signal: controller.signal, emit: () => controller.abort(new Error('stop')) },
    )
    await expect(running).rejects.toThrow('stop')
  })

  it('never shows or returns a secret, also when it comes in two pieces', async () => {
    const f = await toolsFixture()
    const redactor = new SecretRedactor(['tok-8h2k9s'])
    const result = await f.call(
      'bash',
      { command: 'printf tok-8; sleep 0.2; printf h2k9s; printf tok-8h2k9s >&2' },
      { redactor },
    )
    expect(result).toMatchObject({ stdout: '[redacted]', stderr: '[redacted]' })
    expect(JSON.stringify(f.emitted)).not.toMatch(/tok-8|h2k9s/)
  })

  it('runs the command behind a script by its name', async () => {
    const f = await toolsFixture()
    expect(await f.call('bash', { command: ' greet ' }, { scripts: { greet: 'echo hello' } })).toMatchObject({
      stdout: 'hello\n',
    })
    expect(await f.call('bash', { command: 'toString' }, { scripts: {} })).toMatchObject({ exitCode: 127 })
  })
})

describe('the file tools', () => {
  it('write, read, edit, list and search', async () => {
    const f = await toolsFixture()
    expect(await f.call('write_file', { path: 'src/a.ts', content: 'one\ntwo\nthree ü\n' })).toEqual({
      path: 'src/a.ts',
      bytes: 17,
    })
    expect(await f.call('read_file', { path: '/workspace/src/a.ts' })).toMatchObject({ content: 'one\ntwo\nthree ü\n' })
    expect(await f.call('read_file', { path: 'src/a.ts', offset: 2, limit: 1 })).toMatchObject({ content: 'two' })
    expect(await f.call('edit_file', { path: 'src/a.ts', oldText: 'two', newText: '$& $1' })).toEqual({
      path: 'src/a.ts',
      replacements: 1,
    })
    expect(await f.handle.fs.read('src/a.ts')).toBe('one\n$& $1\nthree ü\n')
    await f.call('write_file', { path: 'node_modules/x/b.ts', content: 'three' })
    expect(await f.call('list_files', { depth: 3 })).toEqual({
      path: '.',
      entries: ['node_modules/', 'src/', 'src/a.ts'],
    })
    expect(await f.call('search_files', { pattern: 'thr.+' })).toEqual({ matches: 'src/a.ts:3:three ü', count: 1 })
    expect(await f.call('search_files', { pattern: "it's $(touch pwned)" })).toEqual({ matches: '', count: 0 })
    expect(await f.handle.fs.exists('pwned')).toBe(false)
  })

  it('say why they could not', async () => {
    const f = await toolsFixture()
    await f.handle.fs.write('a', 'x x')
    await f.handle.fs.write('bin', Uint8Array.from([0xff, 0xfe, 0]))
    await expect(f.call('edit_file', { path: 'a', oldText: 'y', newText: 'z' })).rejects.toThrow('does not stand in')
    await expect(f.call('edit_file', { path: 'a', oldText: 'x', newText: 'z' })).rejects.toThrow('2 times')
    await expect(f.call('read_file', { path: 'bin' })).rejects.toThrow('not UTF-8')
    await expect(f.call('search_files', { pattern: '(' })).rejects.toThrow('search failed')
    await expect(f.call('search_files', { pattern: 'x', path: '../..' })).rejects.toMatchObject({
      code: 'INVALID_PATH',
    })
    await expect(f.call('write_file', { path: '../x', content: '' })).rejects.toMatchObject({ code: 'INVALID_PATH' })
  })
})

describe('open_port', () => {
  it('gives the address and keeps the token', async () => {
    const f = await toolsFixture()
    const handle = {
      ...f.handle,
      ports: { connect: async () => ({ url: 'https://p.example', token: 'tok-8h2k9s', headers: { a: 'tok-8h2k9s' } }) },
    }
    expect(await f.call('open_port', { port: 3000 }, { handle: () => handle })).toEqual({
      port: 3000,
      url: 'https://p.example',
      needsToken: true,
    })
  })

  it('passes on why there are no ports', async () => {
    const f = await toolsFixture()
    const connect = (): Promise<never> =>
      Promise.reject(new UnsupportedError('CAPABILITY_UNSUPPORTED', 'No ports here.'))
    await expect(
      f.call('open_port', { port: 80 }, { handle: () => ({ ...f.handle, ports: { connect } }) }),
    ).rejects.toThrow('No ports here.')
  })
})

describe('HeadTailText', () => {
  it('never splits a character and counts what it leaves out, wherever the text is cut', () => {
    for (let size = 1; size < 9; size += 1) {
      const text = new HeadTailText(10)
      const whole = '€äx😀'.repeat(20)
      for (let at = 0; at < whole.length; at += size) text.push(whole.slice(at, at + size).toWellFormed())
      if (size % 5 !== 0) continue
      const [, head = '', dropped, tail = ''] =
        /^(.*)\n\[\.\.\. (\d+) bytes left out \.\.\.\]\n(.*)$/.exec(text.toString()) ?? []
      expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true)
      expect(Buffer.byteLength(head + tail) + Number(dropped)).toBe(Buffer.byteLength(whole))
    }
  })
})
