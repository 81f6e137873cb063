import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { MemoryBlobStore } from '@holdfast/core'
import type { SandboxHandle } from '@holdfast/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  capture,
  checkpointOf,
  memorySandbox,
  processSandbox,
  restore,
  sh,
  treeOf,
} from '../../fixtures/workspace-fixture.ts'

const NAMES = [
  'with space',
  'qu"ote',
  "apos'trophe",
  'back\\slash',
  'new\nline',
  'tab\t',
  '-leading',
  'trailing.',
  'trailing ',
  '😀',
  '漢字',
  'e\u0301',
  '\u00e9',
  'ß',
  'ss',
  'Case',
  'case',
  '__proto__',
  'CON',
  'cr\rname',
  '$(x)`',
  '*?[a]',
  'x'.repeat(255),
]

const BYTES: readonly (readonly [string, Uint8Array])[] = [
  ['all', Uint8Array.from({ length: 256 }, (_, index) => index)],
  ['empty', new Uint8Array()],
  ['bom', Uint8Array.from([0xef, 0xbb, 0xbf, 0x61])],
  ['crlf', Buffer.from('a\r\nb\r\n')],
  ['no-newline', Buffer.from('end')],
  ['png', Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d])],
]

/** GNU tools are the machine's own; BusyBox's are put before them. */
async function busyboxSandbox(): Promise<SandboxHandle | undefined> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-busybox-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  try {
    await promisify(execFile)('busybox', ['--install', '-s', dir])
  } catch {
    return undefined
  }
  const handle = await processSandbox()
  await handle.env.set({ PATH: `${dir}:${process.env['PATH']}` })
  return handle
}

const SANDBOXES: readonly (readonly [string, () => Promise<SandboxHandle | undefined>])[] = [
  ['GNU tools', processSandbox],
  ['BusyBox tools', busyboxSandbox],
  ['an interpreted shell', memorySandbox],
  ['files alone', async () => filesAlone(await processSandbox())],
]

function filesAlone(handle: SandboxHandle): SandboxHandle {
  const { archive: _archive, ...rest } = handle
  return {
    ...rest,
    id: handle.id,
    capabilities: { ...handle.capabilities, exec: false, archive: false },
  } as SandboxHandle
}

describe.each(SANDBOXES)('a sandbox with %s', (_name, open) => {
  it('keeps every name that Linux can have', async ({ skip }) => {
    const from = await open()
    if (from === undefined) return skip('busybox is not installed')
    for (const name of NAMES) await from.fs.write(`/workspace/${name}/${name}`, name)
    const blobs = new MemoryBlobStore()
    const { files, report } = await capture(from, { blobs })
    expect(report).toEqual([])
    expect(
      files
        .filter(({ kind }) => kind === 'file')
        .map(({ path }) => path)
        .sort(),
    ).toEqual(NAMES.map((name) => `${name}/${name}`).sort())
    const to = await processSandbox('sandbox-2')
    await restore(to, blobs, checkpointOf(files))
    for (const name of NAMES) expect(await to.fs.read(`/workspace/${name}/${name}`)).toBe(name)
  })

  it('keeps every byte', async ({ skip }) => {
    const from = await open()
    if (from === undefined) return skip('busybox is not installed')
    for (const [name, bytes] of BYTES) await from.fs.write(`/workspace/${name}`, bytes)
    const blobs = new MemoryBlobStore()
    const { files } = await capture(from, { blobs })
    await from.fs.write('/workspace/all', 'changed')
    await restore(from, blobs, checkpointOf(files))
    for (const [name, bytes] of BYTES)
      expect(Buffer.from(await from.fs.readBytes(`/workspace/${name}`))).toEqual(Buffer.from(bytes))
  })

  it('is a mirror: adds, replaces, removes, changes kinds, modes and links', async ({ skip }) => {
    const handle = await open()
    if (handle === undefined) return skip('busybox is not installed')
    const { fs } = handle
    await fs.write('/workspace/a', 'a')
    await fs.write('/workspace/run.sh', 'echo')
    await fs.chmod?.('/workspace/run.sh', 0o755)
    await fs.write('/workspace/b/inner', 'b')
    await fs.write('/workspace/d', 'd')
    await fs.write('/workspace/same', 'same')
    await fs.mkdir('/workspace/empty')
    await fs.symlink?.('../a', '/workspace/b/link')
    await fs.symlink?.('nowhere', '/workspace/dangling')
    await fs.write('/workspace/node_modules/kept', 'kept')
    const blobs = new MemoryBlobStore()
    const saved = await capture(handle, { blobs })
    await fs.remove('/workspace/a')
    await fs.write('/workspace/c', 'c')
    await fs.write('/workspace/new/deep/file', 'c')
    await fs.remove('/workspace/b')
    await fs.write('/workspace/b', 'now a file')
    await fs.remove('/workspace/d')
    await fs.write('/workspace/d/inner', 'now a directory')
    await fs.chmod?.('/workspace/run.sh', 0o644)
    await fs.remove('/workspace/dangling')
    await fs.symlink?.('elsewhere', '/workspace/dangling')
    await fs.remove('/workspace/empty')
    await fs.write('/workspace/node_modules/added', 'added')
    const result = await restore(handle, blobs, checkpointOf(saved.files))
    expect(result).toMatchObject({ report: [] })
    expect((await capture(handle)).files).toEqual(saved.files)
    expect(await fs.read('/workspace/node_modules/kept')).toBe('kept')
    expect(await fs.read('/workspace/node_modules/added')).toBe('added')
  })
})

describe('an ordinary project', () => {
  it('keeps executables, links into packages, dangling links and link loops, and reads nothing through a link', async () => {
    const from = await processSandbox()
    await sh(
      from,
      [
        'mkdir -p bin pkg/.bin hooks && printf x > gradlew && chmod 755 gradlew && printf y > hooks/pre && chmod 750 hooks/pre',
        'ln -s ../tool.js pkg/.bin/tool && ln -s nowhere dangling && ln -s loop-b loop-a && ln -s loop-a loop-b',
        'ln -s /etc/passwd outside && ln -s /etc outside-dir && printf z > one && ln one two && chmod 600 one',
        'mkdir private && chmod 700 private && printf r > read-only && chmod 444 read-only && mkfifo pipe',
      ].join('\n'),
    )
    const blobs = new MemoryBlobStore()
    const { files, report } = await capture(from, { blobs })
    expect(report).toEqual([{ path: 'pipe', what: 'skipped', reason: expect.stringContaining('pipe') }])
    const byPath = new Map(files.map((entry) => [entry.path, entry]))
    expect(byPath.get('outside')).toEqual({ path: 'outside', kind: 'symlink', target: '/etc/passwd' })
    expect([...byPath.keys()].filter((path) => path.startsWith('outside-dir/'))).toEqual([])
    expect(byPath.get('two')).toMatchObject({ kind: 'file', mode: 0o600, size: 1 })
    const to = await processSandbox('sandbox-2')
    await to.env.set({ UNUSED: '1' })
    await restore(to, blobs, checkpointOf(files))
    expect(await sh(to, 'stat -c %a gradlew hooks/pre one private read-only')).toBe('755\n750\n600\n700\n444\n')
    expect(await treeOf(to)).toEqual(files)
  })
})
