import { describe, expect, test } from 'vitest'
import { defineSandboxProvider, NotFoundError, ProviderError } from '../../../src/index.ts'
import type { SandboxBackend, SandboxHandle } from '../../../src/index.ts'
import { ALL_CAPABILITIES, ROOT, stubBackend, stubHandle } from '../../support/stub-backend.ts'
import type { Call } from '../../support/stub-backend.ts'

type Answers = Parameters<typeof stubHandle>[1]

async function open(
  answers: Answers = {},
  overrides: Partial<SandboxBackend> = {},
): Promise<{ handle: SandboxHandle; calls: Call[] }> {
  const calls: Call[] = []
  const provider = defineSandboxProvider(stubBackend(stubHandle(calls, answers), overrides))
  return { handle: await provider.create({ id: 'key-1', env: { BASE: '1' } }), calls }
}

const done = { stdout: '', stderr: '', exitCode: 0 }

describe('a destroyed handle', () => {
  test('refuses every call with SANDBOX_CLOSED and calls nothing', async () => {
    const { handle, calls } = await open({ destroy: () => {} })
    await handle.destroy()
    calls.length = 0
    const attempts = [
      handle.fs.read('a'),
      handle.fs.write('a', ''),
      handle.process.exec('true'),
      handle.process.spawn('true'),
      handle.git.status(),
      handle.ports.connect(80),
      handle.env.set({}),
      handle.archive?.pack([]),
      handle.terminal?.open(),
      handle.access?.grant(),
      handle.snapshot?.(),
      handle.fork?.(),
      handle.refreshActivity?.(),
    ]
    for (const attempt of attempts) await expect(attempt).rejects.toMatchObject({ code: 'SANDBOX_CLOSED' })
    expect(calls).toEqual([])
  })

  test('may be destroyed again, and the backend is asked once', async () => {
    const { handle, calls } = await open({ destroy: () => {} })
    await Promise.all([handle.destroy(), handle.destroy()])
    await handle.destroy()
    expect(calls.filter((call) => call.name === 'destroy')).toHaveLength(1)
  })

  test('stays usable when it could not be destroyed, and destroy may be tried again', async () => {
    let attempts = 0
    const { handle } = await open({
      exec: () => done,
      destroy: () => {
        attempts += 1
        if (attempts === 1) throw new Error('502')
      },
    })
    await expect(handle.destroy()).rejects.toMatchObject({ code: 'PROVIDER_FAILED' })
    expect(await handle.process.exec('true')).toEqual(done)
    await handle.destroy()
    await expect(handle.process.exec('true')).rejects.toMatchObject({ code: 'SANDBOX_CLOSED' })
  })

  test('refuses calls while it is being destroyed', async () => {
    let finish: () => void = () => {}
    const { handle } = await open({ destroy: () => new Promise<void>((resolve) => (finish = resolve)) })
    const destroying = handle.destroy()
    await expect(handle.process.exec('true')).rejects.toMatchObject({ code: 'SANDBOX_CLOSED' })
    finish()
    await destroying
  })
})

describe('aborts and errors', () => {
  test('a signal that is aborted before rejects with its reason and calls nothing', async () => {
    const reason = { why: 'stop' }
    const signal = AbortSignal.abort(reason)
    const { handle, calls } = await open()
    await expect(handle.process.exec('true', { signal })).rejects.toBe(reason)
    await expect(handle.process.spawn('true', { signal })).rejects.toBe(reason)
    await expect(handle.archive?.pack([], { signal })).rejects.toBe(reason)
    await expect(handle.terminal?.open({ signal })).rejects.toBe(reason)
    expect(calls).toEqual([])
    let created = 0
    const create = (): never => {
      created += 1
      throw new Error('unreachable')
    }
    const provider = defineSandboxProvider(stubBackend(stubHandle([]), { create }))
    await expect(provider.create({ signal })).rejects.toBe(reason)
    await expect(provider.resume({ id: 'x', signal })).rejects.toBe(reason)
    await expect(provider.destroy({ id: 'x', signal })).rejects.toBe(reason)
    expect(created).toBe(0)
  })

  test('an abort during the call rejects with the reason, whatever the vendor threw', async () => {
    const controller = new AbortController()
    const { handle } = await open({
      exec: () => {
        controller.abort('cancelled by a person')
        throw new Error('socket hang up')
      },
    })
    await expect(handle.process.exec('true', { signal: controller.signal })).rejects.toBe('cancelled by a person')
  })

  test('a vendor error becomes PROVIDER_FAILED with the original as cause', async () => {
    const cause = new Error('boom')
    const { handle } = await open({ readBytes: () => Promise.reject(cause) })
    await expect(handle.fs.read('a')).rejects.toMatchObject({ code: 'PROVIDER_FAILED', cause })
  })

  test('mapError decides what a vendor error means, and its own nonsense is not passed on', async () => {
    const mapped = new NotFoundError('FILE_NOT_FOUND', 'gone')
    const seen: string[] = []
    const answers = {
      readBytes: () => Promise.reject(new Error('404')),
      exists: () => Promise.reject(new Error('odd')),
    }
    const { handle } = await open(answers, {
      mapError: (error, operation) => {
        seen.push(operation)
        return (error as Error).message === '404' ? mapped : 'what?'
      },
    })
    await expect(handle.fs.read('a')).rejects.toBe(mapped)
    await expect(handle.fs.exists('a')).rejects.toMatchObject({ code: 'PROVIDER_FAILED' })
    expect(seen).toEqual(['fs.read', 'fs.exists'])
  })

  test('a Holdfast error passes through unmapped', async () => {
    const original = new ProviderError('PROVIDER_RATE_LIMITED', 'slow down')
    const { handle } = await open({ exec: () => Promise.reject(original) }, { mapError: () => new Error('no') })
    await expect(handle.process.exec('true')).rejects.toBe(original)
  })

  test('a failed probe is an answer', async () => {
    const probe = (): Promise<never> => Promise.reject(new ProviderError('PROVIDER_REFUSED', 'wrong key'))
    const provider = defineSandboxProvider(stubBackend(stubHandle([]), { probe }))
    expect(await provider.probe?.()).toEqual({ ok: false, reason: 'wrong key' })
  })
})

describe('paths', () => {
  test('a path that leaves the workspace is refused everywhere and calls nothing', async () => {
    const { handle, calls } = await open()
    const out = '../x'
    const attempts = [
      handle.fs.read(out),
      handle.fs.write(out, ''),
      handle.fs.list('/etc'),
      handle.fs.mkdir(out),
      handle.fs.remove(out),
      handle.fs.rename('a', out),
      handle.fs.rename(out, 'a'),
      handle.fs.exists(out),
      handle.fs.lstat?.(out),
      handle.fs.readlink?.(out),
      handle.fs.symlink?.('t', out),
      handle.fs.chmod?.(out, 0o644),
      handle.process.exec('true', { cwd: out }),
      handle.process.spawn('true', { cwd: out }),
      handle.archive?.pack([out]),
      handle.terminal?.open({ cwd: out }),
      handle.git.clone({ url: 'https://example.com/a.git', dir: out }),
      handle.git.status(out),
    ]
    for (const attempt of attempts) await expect(attempt).rejects.toMatchObject({ code: 'INVALID_PATH' })
    expect(calls).toEqual([])
  })

  test('the workspace root cannot be removed, moved or overwritten', async () => {
    const { handle, calls } = await open()
    const attempts = [
      handle.fs.remove('/workspace'),
      handle.fs.remove('.'),
      handle.fs.rename(ROOT, 'a'),
      handle.fs.write('.', ''),
    ]
    for (const attempt of attempts) await expect(attempt).rejects.toMatchObject({ code: 'INVALID_PATH' })
    expect(calls).toEqual([])
  })

  test('the backend gets real paths, and archives get names', async () => {
    const { handle, calls } = await open({
      readBytes: () => new Uint8Array(),
      exec: () => done,
      pack: () => new Blob(['tar']).stream(),
      open: () => ({}),
    })
    await handle.fs.read('/workspace/a')
    await handle.process.exec('pwd', { cwd: 'sub' })
    await handle.process.exec('pwd')
    await handle.archive?.pack(['/workspace/a', `${ROOT}/b/c`, '.'])
    await handle.terminal?.open({ cwd: '/workspace' })
    expect(calls[0]?.args[0]).toBe(`${ROOT}/a`)
    expect(calls[1]?.args[1]).toMatchObject({ cwd: `${ROOT}/sub` })
    expect(calls[2]?.args[1]).toMatchObject({ cwd: ROOT })
    expect(calls[3]?.args[0]).toEqual(['a', 'b/c', '.'])
    expect(calls[4]?.args[0]).toMatchObject({ cwd: ROOT, env: { BASE: '1' } })
  })

  test('an entry of a listing has the listed path, a slash and its name', async () => {
    const { handle } = await open({ list: () => [{ name: ' x', path: `${ROOT}/d/ x`, type: 'file' }] })
    expect(await handle.fs.list('d/')).toEqual([{ name: ' x', path: 'd/ x', type: 'file' }])
    expect(await handle.fs.list('/workspace/d')).toEqual([{ name: ' x', path: '/workspace/d/ x', type: 'file' }])
  })
})

describe('text', () => {
  test('a byte order mark and line ends survive reading, and text is written as UTF-8', async () => {
    const bytes = new TextEncoder().encode('\ufeffa\r\nü')
    const { handle, calls } = await open({ readBytes: () => bytes, write: () => {} })
    expect(await handle.fs.read('a')).toBe('\ufeffa\r\nü')
    await handle.fs.write('a', '\ufeffa\r\nü')
    expect(calls[1]?.args[1]).toEqual(bytes)
    await expect(handle.fs.write('a', 7 as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})

describe('commands', () => {
  test.each([
    ['timeoutMs', { timeoutMs: 0 }],
    ['timeoutMs', { timeoutMs: Number.NaN }],
    ['timeoutMs', { timeoutMs: 3e9 }],
    ['maxOutputBytes', { maxOutputBytes: -1 }],
    ['stdin', { stdin: 7 as never }],
  ])('a bad %s is refused before the backend is called', async (name, options) => {
    const { handle, calls } = await open()
    await expect(handle.process.exec('true', options)).rejects.toThrow(name)
    expect(calls).toEqual([])
  })

  test('a command with NUL is refused', async () => {
    const { handle } = await open()
    await expect(handle.process.exec('a\0b')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  test('standard input is empty bytes when left out', async () => {
    const { handle, calls } = await open({ exec: () => done })
    await handle.process.exec('cat')
    await handle.process.exec('cat', { stdin: 'ü' })
    expect(calls[0]?.args[1]).toMatchObject({ stdin: new Uint8Array() })
    expect(calls[1]?.args[1]).toMatchObject({ stdin: new TextEncoder().encode('ü') })
  })

  test('variables of the handle are kept, and those of the call win', async () => {
    const { handle, calls } = await open({ exec: () => done })
    await handle.env.set({ A: 'set', B: 'set' })
    await handle.process.exec('env', { env: { B: 'call' } })
    await handle.process.exec('env')
    expect(calls[0]?.args[1]).toMatchObject({ env: { BASE: '1', A: 'set', B: 'call' } })
    expect(calls[1]?.args[1]).toMatchObject({ env: { BASE: '1', A: 'set', B: 'set' } })
  })

  test('one bad name sets none of the variables', async () => {
    const { handle, calls } = await open({ exec: () => done })
    await expect(handle.env.set({ GOOD: '1', 'A;touch x': '1' })).rejects.toMatchObject({ code: 'INVALID_ENV_NAME' })
    await expect(handle.process.exec('env', { env: { '1A': '' } })).rejects.toMatchObject({ code: 'INVALID_ENV_NAME' })
    await handle.process.exec('env')
    expect(calls[0]?.args[1]).toMatchObject({ env: { BASE: '1' } })
  })

  test('an output callback that throws is not called again and fails the call after the command ended', async () => {
    const failure = new Error('callback')
    let pieces = 0
    const { handle } = await open({
      exec: (_command: string, options: { onStdout: (text: string) => void }) => {
        options.onStdout('a')
        options.onStdout('b')
        return done
      },
    })
    const onStdout = (): void => {
      pieces += 1
      throw failure
    }
    await expect(handle.process.exec('x', { onStdout })).rejects.toBe(failure)
    expect(pieces).toBe(1)
  })
})

describe('abilities', () => {
  test.each([0, 65_536, 1.5, Number.NaN])('port %d is refused', async (port) => {
    const { handle } = await open()
    await expect(handle.ports.connect(port)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  test('an ability that is not declared is absent or refused with its reason', async () => {
    const capabilities = () => ({
      ...ALL_CAPABILITIES,
      archive: false,
      terminal: false,
      access: false,
      symlinks: false,
      snapshots: false,
      fork: false,
      ports: false,
      unsupported: { ports: 'it has no network' },
    })
    const { handle } = await open({}, { capabilities, restoreSnapshot: () => Promise.reject(new Error('unreachable')) })
    for (const name of ['archive', 'terminal', 'access', 'snapshot', 'fork'] as const)
      expect(handle).not.toHaveProperty(name)
    expect(handle.fs).not.toHaveProperty('readlink')
    expect(handle.fs).not.toHaveProperty('symlink')
    await expect(handle.ports.connect(80)).rejects.toThrow('it has no network')
    await expect(handle.ports.connect(80)).rejects.toMatchObject({ code: 'CAPABILITY_UNSUPPORTED' })
  })

  test('a backend without a required method is refused', () => {
    expect(() => defineSandboxProvider({ ...stubBackend(stubHandle([])), resume: undefined as never })).toThrow(
      'resume',
    )
  })

  test('a sandbox that the service does not know is null', async () => {
    const provider = defineSandboxProvider(stubBackend(stubHandle([]), { resume: () => Promise.resolve(null) }))
    expect(await provider.resume({ id: 'x' })).toBeNull()
    await expect(provider.resume({ id: '' })).rejects.toMatchObject({ code: 'INVALID_ID' })
  })

  test('a fork is a handle of its own', async () => {
    const copyCalls: Call[] = []
    const { handle } = await open({ fork: () => stubHandle(copyCalls, { exec: () => done }), destroy: () => {} })
    await handle.env.set({ A: '1' })
    const copy = await handle.fork?.()
    await handle.destroy()
    expect(await copy?.process.exec('true')).toEqual(done)
    expect(copyCalls[0]?.args[1]).toMatchObject({ env: { BASE: '1', A: '1' } })
  })
})
