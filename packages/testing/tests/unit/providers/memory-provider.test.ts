import { describe, expect, it } from 'vitest'
import { FakeClock, memoryProvider } from '../../../src/index.ts'

describe('memoryProvider', () => {
  it('files are shared between the handle and its commands', async () => {
    const sandbox = await memoryProvider().create({})
    await sandbox.fs.write('dir/a file', 'één\n')
    const { stdout, stderr, exitCode } = await sandbox.process.exec(
      'cat "dir/a file"; echo oops >&2; cd dir && echo more >> new; exit 4',
    )
    expect({ stdout, stderr, exitCode }).toEqual({ stdout: 'één\n', stderr: 'oops\n', exitCode: 4 })
    expect(await sandbox.fs.read('dir/new')).toBe('more\n')
  })

  it('commands sleep and time out by the given clock', async () => {
    const clock = new FakeClock()
    const sandbox = await memoryProvider({ clock }).create({})
    const running = sandbox.process.exec('sleep 360; echo done')
    const overrunning = sandbox.process.exec('sleep 600; echo done', { timeoutMs: 400_000 })
    await expect.poll(() => clock.pending).toBe(3)
    await clock.advance(360_000)
    expect(await running).toMatchObject({ stdout: 'done\n', exitCode: 0 })
    await clock.advance(40_000)
    expect(await overrunning).toMatchObject({ stdout: '', exitCode: 124, timedOut: true })
  })

  it('ordinary shell tools work on the files', async () => {
    const sandbox = await memoryProvider().create({})
    const { stdout, stderr } = await sandbox.process.exec(
      'mkdir -p a/b && echo x > a/b/f && cp -r a c && mv c/b/f d && rm -r c && ln -s a/b l && cat l/f && find . | sort && echo hi > /dev/null',
    )
    expect({ stdout, stderr }).toEqual({ stdout: 'x\n.\n./a\n./a/b\n./a/b/f\n./d\n./l\n', stderr: '' })
  })
})
