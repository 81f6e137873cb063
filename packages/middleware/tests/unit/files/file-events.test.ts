import type { SandboxHandle } from '@holdfast/core'
import { FakeClock } from '@holdfast/testing'
import type { SandboxFileHookEvent, StreamChunk } from '@tanstack/ai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startFileEvents } from '../../../src/files/start-file-events.ts'
import type { FileEvents, FileEventsInput, SandboxFileDiff } from '../../../src/files/start-file-events.ts'
import { SecretRedactor } from '../../../src/secrets/secret-redactor.ts'
import { sandboxFixture } from '../../fixtures/sandbox-fixture.ts'
import type { SandboxFixture } from '../../fixtures/sandbox-fixture.ts'

interface Fixture extends SandboxFixture {
  handle: SandboxHandle
  events: string[]
  diffs: SandboxFileDiff[]
  start: (options?: Partial<FileEventsInput>) => Promise<FileEvents>
}

async function fixture(): Promise<Fixture> {
  const base = await sandboxFixture()
  const { watch: _watch, ...fs } = withMethods((await base.provider.create({ id: 'files' })).fs)
  const handle = { ...(await base.provider.create({ id: 'files' })), fs }
  const events: string[] = []
  const diffs: SandboxFileDiff[] = []
  return {
    ...base,
    handle,
    events,
    diffs,
    async start(options) {
      const files = await startFileEvents({
        handle,
        root: '/workspace',
        diff: true,
        emit: ({ type, path }) => void events.push(`${type} ${path}`),
        emitDiff: (diff) => void diffs.push(diff),
        clock: base.clock,
        logger: { warn: (message) => void base.warnings.push(message) },
        ...options,
      })
      onTestFinished(() => files.stop())
      return files
    },
  }
}

/** A plain copy, whose members can be left out. */
function withMethods<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object)) as T
}

const diffOf = (f: Fixture): string => f.diffs.map(({ diff }) => diff).join('')

describe('file events that meet trouble', () => {
  it('do not fail a run whose files cannot be listed', async () => {
    const f = await fixture()
    f.faults.add({ on: 'exec', do: 'fail', times: 9 })
    const files = await f.start()
    await files.drain()
    await files.stop()
    expect(f.warnings).toEqual([expect.stringContaining('Git'), expect.stringContaining('cannot be watched')])
  })

  it('tell later what a failed look missed', async () => {
    const f = await fixture()
    const files = await f.start()
    await f.handle.fs.write('a', '1')
    f.faults.add({ on: 'exec', do: 'fail' })
    await files.drain()
    expect([f.events, f.warnings.length]).toEqual([[], 1])
    await files.drain()
    expect(f.events).toEqual(['create /workspace/a'])
  })

  it('go on when a hook throws, and log it', async () => {
    const f = await fixture()
    const called: string[] = []
    const hooks = {
      onFile: () => {
        called.push('onFile')
        throw new Error('hook')
      },
      onFileCreate: () => void called.push('onFileCreate'),
      onFileChange: () => void called.push('onFileChange'),
    }
    const files = await f.start({ hooks })
    await f.handle.fs.write('a', '1')
    await files.drain()
    expect(called).toEqual(['onFile', 'onFileCreate'])
    expect(f.warnings).toEqual(['The onFile hook failed for /workspace/a.'])
    expect(f.diffs).toHaveLength(1)
  })

  it('still tell the event when its file is gone before the diff', async () => {
    const f = await fixture()
    const files = await f.start({ hooks: { onFile: () => f.handle.fs.remove('a') } })
    await f.handle.fs.write('a', '1')
    await files.drain()
    expect(f.events).toEqual(['create /workspace/a'])
    expect(f.warnings).toEqual([])
  })

  it('log a watcher that does not stop, and stop all the same', async () => {
    const f = await fixture()
    const watch = async (): Promise<{ stop: () => Promise<void> }> => ({
      stop: () => Promise.reject(new Error('stuck')),
    })
    const files = await f.start({ handle: { ...f.handle, fs: { ...f.handle.fs, watch } } })
    await files.stop()
    expect(f.warnings).toEqual(['The file watcher of the sandbox could not be stopped.'])
  })

  it('fall back to looking when the provider cannot watch', async () => {
    const f = await fixture()
    const watch = (): Promise<never> => Promise.reject(new Error('no inotify'))
    await f.start({ handle: { ...f.handle, fs: { ...f.handle.fs, watch } } })
    expect(f.clock.pending).toBe(1)
  })
})

describe('file events', () => {
  it('tell created, changed and deleted files and links, odd names included, and leave tool directories out', async () => {
    const f = await fixture()
    await f.handle.fs.write('old', '1')
    await f.handle.fs.write('gone', '1')
    const files = await f.start()
    await f.handle.process.exec(
      `mkdir -p .git node_modules/x .holdfast sub; touch .git/a node_modules/x/a .holdfast/a; echo 2 > old; rm gone; echo x > "sub/a
b"; echo x > 'ü "'\\'' $x'; ln -s nowhere link`,
    )
    await files.drain()
    expect(f.events).toEqual([
      'delete /workspace/gone',
      'create /workspace/link',
      'change /workspace/old',
      'create /workspace/sub/a\nb',
      'create /workspace/ü "\' $x',
    ])
  })

  it('tell nothing when nothing changed, and every change once', async () => {
    const f = await fixture()
    await f.handle.fs.write('a', '1')
    const files = await f.start()
    await files.drain()
    await f.handle.fs.write('a', '2')
    await Promise.all([files.drain(), files.drain()])
    expect(f.events).toEqual(['change /workspace/a'])
  })

  it('work without GNU find', async () => {
    const f = await fixture()
    const { exec } = f.handle.process
    const busybox: typeof exec = async (command, options) =>
      command.includes('-printf')
        ? { stdout: '', stderr: 'find: unrecognized: -printf', exitCode: 1 }
        : f.handle.process.exec(command, options)
    const files = await f.start({
      handle: { ...f.handle, process: { ...withMethods(f.handle.process), exec: busybox } },
    })
    await f.handle.fs.write('sub/a b', '1')
    await files.drain()
    expect(f.events).toEqual(['create /workspace/sub/a b'])
  })
})

describe('diffs', () => {
  async function repository(f: Fixture): Promise<void> {
    await f.handle.fs.write('a.txt', 'one\ntwo\nthree\n')
    const { exitCode } = await f.handle.process.exec(
      'git init -q && git add . && git -c user.name=t -c user.email=t@t commit -qm first',
    )
    expect(exitCode).toBe(0)
  }

  it('compare with the commit at the start, whatever is committed later', async () => {
    const f = await fixture()
    await repository(f)
    const files = await f.start()
    await f.handle.fs.write('a.txt', 'one\n2\nthree\n')
    await f.handle.process.exec('git -c user.name=t -c user.email=t@t commit -qam second')
    await files.drain()
    await f.handle.fs.write('a.txt', 'one\n2\n3\n')
    await files.drain()
    expect(f.diffs.map(({ diff }) => diff.split('\n').filter((line) => /^[-+]/.test(line)))).toEqual([
      ['--- a/a.txt', '+++ b/a.txt', '-two', '+2'],
      ['--- a/a.txt', '+++ b/a.txt', '-two', '-three', '+2', '+3'],
    ])
  })

  it('show a new file as added and a deleted one as removed', async () => {
    const f = await fixture()
    await repository(f)
    const files = await f.start()
    await f.handle.fs.write('b.txt', 'new\n')
    await f.handle.fs.remove('a.txt')
    await files.drain()
    expect(diffOf(f)).toContain('--- a/a.txt\n+++ /dev/null\n')
    expect(diffOf(f)).toContain('--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1,1 @@\n+new\n')
  })

  it('without a repository show the whole file first and then what changed', async () => {
    const f = await fixture()
    const files = await f.start()
    await f.handle.fs.write('a.txt', 'one\ntwo\n')
    await files.drain()
    await f.handle.fs.write('a.txt', 'one\n2\n')
    await files.drain()
    expect(f.diffs[0]?.diff).toContain('+one\n+two\n')
    expect(f.diffs[1]?.diff).toContain(' one\n-two\n+2\n')
    expect(f.warnings).toEqual([])
  })

  it('are left out for long files and binary ones, and cut when they are long', async () => {
    const f = await fixture()
    const files = await f.start()
    await f.handle.fs.write('big', 'x\n'.repeat(300_000))
    await f.handle.fs.write('bin', Uint8Array.from([1, 0, 2]))
    await f.handle.fs.write('long', 'some text\n'.repeat(20_000))
    await files.drain()
    expect(f.diffs.map(({ path, diff, truncated }) => [path, diff.length > 0, truncated])).toEqual([
      ['/workspace/big', false, true],
      ['/workspace/bin', true, undefined],
      ['/workspace/long', true, true],
    ])
    expect(f.diffs[2]?.diff.length).toBeLessThanOrEqual(64 * 1024)
  })

  it('hold no secret, neither in text nor in a path; hooks can read the true content', async () => {
    const f = await fixture()
    const contents: string[] = []
    const onFile = async (event: SandboxFileHookEvent): Promise<void> => {
      contents.push(await event.before(), await event.after(), await event.diff())
    }
    const files = await f.start({ redactor: new SecretRedactor(['tok-8h2k9s']), hooks: { onFile } })
    await f.handle.fs.write('tok-8h2k9s.txt', 'token=tok-8h2k9s\n')
    await files.drain()
    expect(JSON.stringify([f.events, f.diffs])).not.toContain('tok-8h2k9s')
    expect(f.diffs[0]).toMatchObject({
      type: 'create',
      path: '/workspace/[redacted].txt',
      diff: expect.stringContaining('+token=[redacted]'),
    })
    expect(contents.slice(0, 2)).toEqual(['', 'token=tok-8h2k9s\n'])
    expect(contents[2]).not.toContain('tok-8h2k9s')
  })

  it('are not made when they are not wanted', async () => {
    const f = await fixture()
    const files = await f.start({ diff: false })
    await f.handle.fs.write('a', '1')
    await files.drain()
    expect([f.events.length, f.diffs.length]).toEqual([1, 0])
  })
})

describe('looking', () => {
  it('happens now and then, more rarely while nothing happens, sooner after a tool, and never after stop', async () => {
    const clock = new FakeClock()
    const looks: number[] = []
    const f = await fixture()
    const exec: SandboxHandle['process']['exec'] = async (command) => {
      if (command.includes('-printf')) looks.push(clock.monotonic())
      return { stdout: '', stderr: '', exitCode: command.includes('git') && !command.includes('find') ? 1 : 0 }
    }
    const files = await f.start({ clock, handle: { ...f.handle, process: { ...withMethods(f.handle.process), exec } } })
    await clock.advance(60_000)
    expect(looks.slice(0, 4)).toEqual([0, 1_000, 2_500, 4_750])
    expect(looks.length).toBeLessThan(13)
    for (let i = 0; i < 10; i += 1) files.noticeChunk({ type: 'TOOL_CALL_RESULT' } as StreamChunk)
    const before = looks.length
    await clock.advance(250)
    expect(looks.length).toBe(before + 1)
    for (let i = 0; i < 100; i += 1) {
      files.noticeChunk({ type: 'TOOL_CALL_END' } as StreamChunk)
      await clock.advance(100)
    }
    const during = looks.length - before - 1
    expect([during >= 7, during <= 10]).toEqual([true, true])
    await files.stop()
    const atStop = looks.length
    files.noticeChunk({ type: 'TOOL_CALL_RESULT' } as StreamChunk)
    await clock.advance(60_000)
    expect(looks.length).toBe(atStop)
    expect(clock.pending).toBe(0)
  })

  it('follows the notices of a provider that has them, without a poll', async () => {
    const f = await fixture()
    let notice = (): void => undefined
    const watch: SandboxHandle['fs']['watch'] = async (_path, onEvent) => {
      notice = () => onEvent({ type: 'whatever', path: 'x' })
      return { stop: async () => undefined }
    }
    const files = await f.start({ handle: { ...f.handle, fs: { ...f.handle.fs, watch } } })
    await f.clock.advance(60_000)
    expect(f.clock.pending).toBe(0)
    await f.handle.fs.write('a', '1')
    notice()
    await f.clock.advance(250)
    await files.stop()
    expect(f.events).toEqual(['create /workspace/a'])
  })
})
