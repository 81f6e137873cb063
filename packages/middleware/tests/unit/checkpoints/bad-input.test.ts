import { createHash } from 'node:crypto'
import { createServer } from 'node:net'
import { MemoryBlobStore, isHoldfastError } from '@holdfast/core'
import type { BlobStore, CheckpointEntry, SandboxHandle } from '@holdfast/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { capture, checkpointOf, processSandbox, restore, sh, treeOf } from '../../fixtures/workspace-fixture.ts'

async function failureOf(call: Promise<unknown>): Promise<{ code: string; message: string; details: unknown }> {
  try {
    await call
  } catch (error) {
    if (isHoldfastError(error)) return error
    throw error
  }
  throw new Error('It did not fail.')
}

async function stored(blobs: BlobStore, text: string): Promise<string> {
  const key = `sandbox-files/sha256/${createHash('sha256').update(text).digest('hex')}`
  await blobs.put(key, text)
  return key
}

async function file(blobs: BlobStore, path: string, text = 'x'): Promise<CheckpointEntry> {
  return { path, kind: 'file', blobKey: await stored(blobs, text), size: text.length, mode: 0o644 }
}

/** A handle whose commands and archives can be replaced, as a hostile sandbox does it. */
function lying(
  handle: SandboxHandle,
  lie: { exec?: (command: string) => string | undefined; pack?: () => ReadableStream<Uint8Array> },
): SandboxHandle {
  const exec: SandboxHandle['process']['exec'] = async (command, options) => {
    const stdout = lie.exec?.(command)
    if (stdout === undefined) return handle.process.exec(command, options)
    return { stdout: Buffer.from(stdout).toString('base64'), stderr: '', exitCode: 0 }
  }
  const archive = handle.archive
  if (archive === undefined) throw new Error('no archive')
  return {
    ...handle,
    id: handle.id,
    capabilities: handle.capabilities,
    process: { ...handle.process, exec },
    archive: {
      ...archive,
      ...(lie.pack === undefined ? {} : { pack: async () => lie.pack?.() ?? new ReadableStream() }),
    },
  }
}

const listing = (...records: string[]): string => `gnu 1000\0${records.join('')}end\0`
const record = (path: string, fields = 'f 644 1 1.0 1.0 1'): string => `${fields}\0${path}\0\0`

describe('a workspace with what cannot be kept', () => {
  it('is saved without it, and the report names each', async () => {
    const handle = await processSandbox()
    const root = handle.workspaceRoot ?? ''
    await sh(
      handle,
      `mkfifo pipe; printf x > "$(printf 'bad\\377name')"; printf ok > fine; ln -s "$(printf 'to\\377')" link`,
    )
    const server = createServer().listen(`${root}/socket`)
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const { files, report } = await capture(handle)
    expect(files.map(({ path }) => path)).toEqual(['fine'])
    expect(report.map(({ path, what }) => `${what} ${path}`).sort()).toEqual([
      'skipped bad\\xffname',
      'skipped link',
      'skipped pipe',
      'skipped socket',
    ])
  })

  it('is left with it by a restore', async () => {
    const handle = await processSandbox()
    await sh(handle, 'mkfifo pipe; printf ok > fine; printf large > large')
    const blobs = new MemoryBlobStore()
    const { files, report } = await capture(handle, { blobs, policy: { exclude: ['large'] } })
    await sh(handle, 'rm fine; printf more > stray')
    await restore(handle, blobs, checkpointOf(files, { report, policy: { exclude: ['large'] } }))
    expect(await sh(handle, 'ls')).toBe('fine\nlarge\npipe\n')
  })

  it('has paths of any length that can be opened, and directories deeper than that are reported', async () => {
    const handle = await processSandbox()
    const long = `${`${'d'.repeat(200)}/`.repeat(19)}${'f'.repeat(180)}`
    await sh(handle, `mkdir -p '${long.slice(0, long.lastIndexOf('/'))}' && printf deep > '${long}'`)
    // Deeper than any path can name, so it is put together from parts.
    const part = 'd/'.repeat(900)
    for (const name of ['a', 'b', 'deep']) await sh(handle, `mkdir -p '${name}/${part}'`)
    await sh(handle, `mv a 'b/${part}' && mv b 'deep/${part}'`)
    onTestFinished(() => handle.process.exec('rm -rf deep').then(() => undefined))
    const blobs = new MemoryBlobStore()
    const { files, report } = await capture(handle, { blobs })
    const longest = Math.max(...files.map(({ path }) => path.length))
    expect(longest).toBeGreaterThan(3_990)
    expect(longest).toBeLessThan(4_096)
    expect(files.filter(({ kind }) => kind === 'file')).toHaveLength(1)
    expect(report.some(({ reason }) => reason.includes('too long'))).toBe(true)
    const shallow = files.filter(({ path }) => !path.startsWith('deep'))
    const to = await processSandbox('sandbox-2')
    await restore(to, blobs, checkpointOf(shallow))
    expect(await treeOf(to)).toEqual(shallow)
  }, 60_000)

  it('cannot be read in part by an ordinary user, and the report names it', async ({ skip }) => {
    if (process.getuid?.() === 0) return skip('root reads everything')
    const handle = await processSandbox()
    await sh(handle, 'printf x > secret; chmod 000 secret; mkdir closed; printf y > closed/file; chmod 000 closed')
    const { files, report } = await capture(handle)
    expect(files).toEqual([])
    expect(report.map(({ path }) => path).sort()).toEqual(['closed', 'secret'])
  })
})

describe('files that change while they are read', () => {
  const change = (handle: SandboxHandle, script: string, times = 1): SandboxHandle => {
    let packs = 0
    const { archive } = handle
    if (archive === undefined) throw new Error('no archive')
    return {
      ...handle,
      id: handle.id,
      capabilities: handle.capabilities,
      archive: {
        ...archive,
        async pack(paths, options) {
          packs += 1
          const packed = await archive.pack(paths, options)
          if (packs <= times) await sh(handle, script)
          return packed
        },
      },
    }
  }

  it('once are read again, so that what is kept is what they became', async () => {
    const handle = await processSandbox()
    await sh(handle, 'printf before > file')
    const blobs = new MemoryBlobStore()
    const { files, report } = await capture(change(handle, 'printf afterwards > file'), { blobs })
    expect(files).toMatchObject([{ path: 'file', size: 10 }])
    expect(report).toEqual([])
  })

  it.each([
    ['keep growing', 'date +%N >> file', true],
    ['vanish', 'rm -f file', true],
    ['become directories', 'rm -rf file; mkdir file', true],
    ['become pipes', 'rm -rf file; mkfifo file', true],
  ])('and %s are reported, and the rest is saved', async (_name, script) => {
    const handle = await processSandbox()
    await sh(handle, 'printf before > file; printf fine > other')
    const { files, report } = await capture(change(handle, script, 5))
    expect(files.map(({ path }) => path)).toContain('other')
    expect(report).toEqual([{ path: 'file', what: 'changed-while-read', reason: expect.any(String) }])
  })
})

describe('limits', () => {
  it.each([
    ['maxFileBytes', { maxFileBytes: 10 }, { path: 'big', size: 20 }],
    ['maxTotalBytes', { maxTotalBytes: 25 }, { limit: 'maxTotalBytes' }],
    ['maxEntries', { maxEntries: 2 }, { limit: 'maxEntries', size: 3 }],
  ])('%s gives LIMIT_EXCEEDED with path and size', async (limit, limits, details) => {
    const handle = await processSandbox()
    await sh(handle, 'printf 12345678901234567890 > big; printf 1234567890 > a; printf 1234567890 > b')
    const error = await failureOf(capture(handle, { limits }))
    expect(error.code).toBe('LIMIT_EXCEEDED')
    expect(error.details).toMatchObject({ limit, path: expect.any(String), size: expect.any(Number), ...details })
  })
})

describe('a sandbox that lies', () => {
  it.each([
    ['prints no listing', 'nonsense'],
    ['cuts its listing', 'gnu 1000\0f 644 1 1.0 1.0 1\0./a\0\0'],
    ['leads out of the workspace', listing(record('./../outside'))],
    ['names an absolute path', listing(record('/etc/passwd'))],
    ['names a path twice', listing(record('./a'), record('./a'))],
    ['prints records that are none', listing(record('./a', 'f x'))],
  ])('and %s saves nothing', async (_name, output) => {
    const handle = lying(await processSandbox(), {
      exec: (command) => (command.includes('-mindepth') ? output : undefined),
    })
    expect((await failureOf(capture(handle))).code).toBe('SANDBOX_SNAPSHOT_INVALID_WORKSPACE')
  })

  it('about hashes gets only what its own thread stored at that path', async () => {
    const blobs = new MemoryBlobStore()
    const foreign = await stored(blobs, 'the secret of another tenant')
    const handle = await processSandbox()
    await sh(handle, 'printf 1234567890123456789012345678 > mine; printf 1234567890123456789012345678 > old')
    const first = await capture(handle, { blobs })
    const claims = lying(handle, {
      exec: (command) =>
        command.includes('sha256sum')
          ? ['mine', 'old'].map((path) => `${foreign.split('/').at(-1)}  ./${path}\n`).join('')
          : undefined,
    })
    const second = await capture(claims, { blobs, parent: first.files })
    expect(second.files).toEqual(first.files)
    expect(second.files.some((entry) => entry.kind === 'file' && entry.blobKey === foreign)).toBe(false)
  })

  it('in its archive gets the files that were asked for, once, under the hash of what came', async () => {
    const { writeArchive } = await import('@holdfast/core/provider-kit')
    const handle = await processSandbox()
    await sh(handle, 'printf real > wanted; printf other > missing')
    const body = (text: string) => new Blob([text]).stream()
    const entry = (path: string, text: string) => ({
      path,
      kind: 'file' as const,
      size: text.length,
      mode: 0o4755,
      body: body(text),
    })
    const blobs = new MemoryBlobStore()
    const liar = lying(handle, {
      pack: () => writeArchive([entry('unasked', 'u'), entry('wanted', 'fake'), entry('wanted', 'twice')]),
    })
    const { files, report } = await capture(liar, { blobs })
    expect(files).toEqual([
      { path: 'wanted', kind: 'file', blobKey: await stored(blobs, 'fake'), size: 4, mode: 0o644 },
    ])
    expect(report).toMatchObject([{ path: 'missing', what: 'skipped' }])
  })

  it.each([
    ['leads out', '../evil'],
    ['is absolute', '/etc/evil'],
  ])('with an archive that %s saves nothing', async (_name, path) => {
    const handle = await processSandbox()
    await sh(handle, 'printf real > wanted')
    const { writeArchive } = await import('@holdfast/core/provider-kit')
    const entry = { path, kind: 'file' as const, size: 1, mode: 0o644, body: new Blob(['x']).stream() }
    const liar = lying(handle, { pack: () => writeArchive([entry]) })
    expect((await failureOf(capture(liar))).code).toBe('INVALID_PATH')
  })

  it('with an archive that ends early or is noise saves nothing', async () => {
    const handle = await processSandbox()
    await sh(handle, 'printf real > wanted')
    for (const bytes of [new Uint8Array(700).fill(7), new Uint8Array(100)]) {
      const liar = lying(handle, { pack: () => new Blob([bytes]).stream() })
      expect((await failureOf(capture(liar))).code).toBe('CORRUPT_DATA')
    }
  })
})

describe('a checkpoint made by an enemy', () => {
  it.each([
    ['leads out of the workspace', '../evil'],
    ['is absolute', '/etc/evil'],
    ['is not normalised', 'a/./b'],
    ['lies in our own directory', '.holdfast/checkpoint.json'],
    ['is left out by its own policy', '.git/hooks/post-checkout'],
  ])('whose path %s writes nothing', async (_name, path) => {
    const handle = await processSandbox()
    await sh(handle, 'printf kept > kept')
    const blobs = new MemoryBlobStore()
    const checkpoint = checkpointOf([await file(blobs, path)])
    expect((await failureOf(restore(handle, blobs, checkpoint))).code).toBe('SANDBOX_SNAPSHOT_INVALID_ENTRY')
    expect(await sh(handle, 'ls -A')).toBe('kept\n')
  })

  it('that writes through a link, names a path twice or wants set-user bits writes nothing of the kind', async () => {
    const handle = await processSandbox()
    const blobs = new MemoryBlobStore()
    const through: CheckpointEntry[] = [{ path: 'a', kind: 'symlink', target: '/tmp' }, await file(blobs, 'a/evil')]
    const twice = [await file(blobs, 'a'), await file(blobs, 'a', 'y')]
    for (const files of [through, twice]) {
      const error = await failureOf(restore(handle, blobs, checkpointOf(files)))
      expect(error.code).toBe('SANDBOX_SNAPSHOT_INVALID_ENTRY')
    }
    expect(await sh(handle, 'ls -A')).toBe('')
  })

  it('never writes or removes through a link that stands in the workspace', async () => {
    const handle = await processSandbox()
    const outside = await processSandbox('sandbox-2')
    await sh(outside, 'printf kept > sub')
    await sh(handle, `ln -s '${outside.workspaceRoot}' a; ln -s '${outside.workspaceRoot}/target' b`)
    const blobs = new MemoryBlobStore()
    await restore(handle, blobs, checkpointOf([await file(blobs, 'a/sub/deep/evil'), await file(blobs, 'b')]))
    expect(await sh(outside, 'ls -A; cat sub')).toBe('sub\nkept')
    expect(await sh(handle, 'cat a/sub/deep/evil b')).toBe('xx')
  })
})

describe('blobs', () => {
  const damages: readonly (readonly [string, (blobs: MemoryBlobStore, key: string) => BlobStore, string])[] = [
    ['missing', (blobs, key) => override(blobs, key, () => null), 'SANDBOX_SNAPSHOT_MISSING_BLOB'],
    ['altered', (blobs, key) => override(blobs, key, () => 'altere'), 'SANDBOX_SNAPSHOT_INVALID_BLOB'],
    ['truncated', (blobs, key) => override(blobs, key, () => 'conte'), 'SANDBOX_SNAPSHOT_INVALID_BLOB'],
    ['lengthened', (blobs, key) => override(blobs, key, () => 'content and more'), 'SANDBOX_SNAPSHOT_INVALID_BLOB'],
  ]

  function override(blobs: MemoryBlobStore, key: string, content: () => string | null): BlobStore {
    const get: BlobStore['get'] = async (asked, options) => {
      if (asked !== key) return blobs.get(asked, options)
      const text = content()
      if (text === null) return null
      const found = await blobs.get(asked)
      return found === null ? null : { ...found, body: new Blob([text]).stream() }
    }
    return {
      get,
      put: (...args) => blobs.put(...args),
      head: (asked) => blobs.head(asked),
      delete: (asked) => blobs.delete(asked),
      list: (input) => blobs.list(input),
    }
  }

  it.each(damages)('that are %s stop a restore before its first write', async (_name, damage, code) => {
    const handle = await processSandbox()
    await sh(handle, 'printf kept > kept; printf old > file')
    const before = await treeOf(handle)
    const blobs = new MemoryBlobStore()
    const files = [await file(blobs, 'fine', 'fine'), await file(blobs, 'file', 'conten')]
    const key = await stored(blobs, 'conten')
    const error = await failureOf(restore(handle, damage(blobs, key), checkpointOf(files)))
    expect(error.code).toBe(code)
    expect(error.message).toContain('file')
    expect(await treeOf(handle)).toEqual(before)
  })

  it('that were lost are stored again by the next save', async () => {
    const handle = await processSandbox()
    await sh(handle, 'printf content > file')
    const blobs = new MemoryBlobStore()
    const first = await capture(handle, { blobs })
    for (const { key } of (await blobs.list()).objects) await blobs.delete(key)
    const second = await capture(handle, { blobs, parent: first.files })
    expect(second.files).toEqual(first.files)
    expect((await blobs.list()).objects).toHaveLength(1)
  })
})
