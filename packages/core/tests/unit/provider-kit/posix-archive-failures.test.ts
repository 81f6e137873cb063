import { describe, expect, test } from 'vitest'
import { posixArchive, writeArchive } from '../../../src/provider-kit/index.ts'
import type { PosixArchiveHost } from '../../../src/provider-kit/index.ts'

const answer = { stdout: '', stderr: '', exitCode: 0 }

/** A host whose commands all succeed; the test says what goes wrong. */
function fixture(broken: Partial<PosixArchiveHost>): { host: PosixArchiveHost; removed: () => boolean } {
  const commands: string[] = []
  const host: PosixArchiveHost = {
    workspaceRoot: '/w',
    async exec(command, options) {
      commands.push(command)
      return (await broken.exec?.(command, options)) ?? answer
    },
    download: async () => new ReadableStream(),
    upload: () => Promise.resolve(),
    ...(broken.download === undefined ? {} : { download: broken.download }),
    ...(broken.upload === undefined ? {} : { upload: broken.upload }),
  }
  return { host, removed: () => commands.at(-1)?.startsWith('rm -rf -- ') === true }
}

/** An archive of one file too large to be buffered, and whether its source was told to stop. */
function large(): { archive: ReadableStream<Uint8Array>; wasLetGo: () => boolean } {
  let wasLetGo = false
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024)),
    cancel: () => {
      wasLetGo = true
    },
  })
  const archive = writeArchive([{ path: 'f', kind: 'file', size: 1024 ** 3, mode: 0o644, body }])
  return { archive, wasLetGo: () => wasLetGo }
}

describe('posixArchive', () => {
  const failures: [string, Partial<PosixArchiveHost>][] = [
    [
      'the sandbox takes no archive',
      { exec: (line) => Promise.resolve({ ...answer, exitCode: Number(line.includes('mkdir')) }) },
    ],
    ['the upload fails before it reads', { upload: () => Promise.reject(new Error('no route')) }],
  ]
  test.each(failures)('what is to be unpacked is let go when %s', async (_what, broken) => {
    const { host, removed } = fixture(broken)
    const { archive, wasLetGo } = large()
    await expect(posixArchive(host).unpack(archive)).rejects.toThrow()
    await expect.poll(wasLetGo).toBe(true)
    expect(removed()).toBe(true)
  })

  test('what was packed is removed from the sandbox though its download cannot be stopped', async () => {
    const stuck = new ReadableStream<Uint8Array>({ cancel: () => Promise.reject(new Error('cannot stop')) })
    const { host, removed } = fixture({ download: () => Promise.resolve(stuck) })
    const packed = await posixArchive(host).pack(['a'])
    await expect(packed.cancel()).rejects.toThrow('cannot stop')
    expect(removed()).toBe(true)
  })
})
