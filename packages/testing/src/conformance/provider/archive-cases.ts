import assert from 'node:assert/strict'
import type { SandboxArchive, SandboxHandle } from '@holdfast/core'
import { writeArchive } from '@holdfast/core/provider-kit'
import type { ArchiveEntry } from '@holdfast/core/provider-kit'
import { assertSameBytes } from '../same-bytes.ts'
import { required } from '../stores/required.ts'
import { rejectsWith } from '../stores/rejects-with.ts'
import { outputOf } from './command-output.ts'
import { ALL_BYTES, ODD_NAMES } from './odd-text.ts'
import { sandboxCase } from './provider-case.ts'
import type { ProviderCase } from './provider-case.ts'

const NEEDS = ['archive', 'fs', 'exec']
/** Longer than any tar header takes, in a name and in a path. */
const LONG_DIR = `${'long-'.repeat(40)}/${'漢'.repeat(60)}`

function archiveOf(sandbox: SandboxHandle): SandboxArchive {
  return required(sandbox.archive, 'archive')
}

/** Packs paths of one sandbox and unpacks them in another. */
async function move(from: SandboxHandle, to: SandboxHandle, paths: readonly string[]): Promise<void> {
  await archiveOf(to).unpack(await archiveOf(from).pack(paths))
}

function file(path: string, text: string, mode = 0o644): ArchiveEntry {
  const bytes = new TextEncoder().encode(text)
  return { path, kind: 'file', size: bytes.length, mode, body: new Blob([bytes]).stream() }
}

/** Path, kind, mode and size of everything below a directory. A link has its target instead of a mode. */
async function treeOf({ fs }: SandboxHandle, dir = '.'): Promise<string[]> {
  const entries = await fs.list(dir)
  const lines = entries.map(async ({ path, type }) => {
    const stat = required(await required(fs.lstat, 'lstat')(path), path)
    if (stat.type === 'symlink') return [`${path} -> ${await required(fs.readlink, 'readlink')(path)}`]
    const line = `${path} ${stat.mode.toString(8)} ${stat.type === 'file' ? stat.size : ''}`
    return [line, ...(type === 'dir' ? await treeOf({ fs } as SandboxHandle, path) : [])]
  })
  return (await Promise.all(lines)).flat().sort()
}

const packCases: readonly ProviderCase[] = [
  sandboxCase(
    'archive.round-trip',
    'files, directories and links arrive as they were, with modes and bytes',
    async (sandbox, { create }) => {
      await sandbox.fs.write('dir/run', '#!/bin/sh\necho ran\n')
      await sandbox.fs.write('dir/secret', 'x')
      await sandbox.fs.write('bytes', ALL_BYTES)
      await sandbox.fs.write('empty', '')
      await outputOf(
        sandbox,
        'chmod 755 dir/run; chmod 600 dir/secret; mkdir closed; chmod 700 closed; ln -s dir/run link; ln -s nowhere dangling',
      )
      const copy = await create()
      await move(sandbox, copy, ['dir', 'dir/run', 'dir/secret', 'bytes', 'empty', 'closed', 'link', 'dangling'])
      assert.deepEqual(await treeOf(copy), await treeOf(sandbox))
      assertSameBytes(await copy.fs.readBytes('bytes'), ALL_BYTES)
      assert.equal(await outputOf(copy, 'sh ./link'), 'ran\n')
    },
    [...NEEDS, 'symlinks'],
  ),
  sandboxCase(
    'archive.names',
    'names arrive byte for byte',
    async (sandbox, { create }) => {
      const names = [...ODD_NAMES, `${LONG_DIR}/file`]
      for (const name of names) await sandbox.fs.write(name, name)
      const copy = await create()
      await move(sandbox, copy, names)
      for (const name of names) assert.equal(await copy.fs.read(name), name)
      assert.equal((await copy.fs.list('.')).length, (await sandbox.fs.list('.')).length)
    },
    NEEDS,
  ),
  sandboxCase(
    'archive.large',
    'a file of several megabytes arrives whole',
    async (sandbox, { create }) => {
      const bytes = Uint8Array.from({ length: 4_000_000 }, (_, index) => (index * 7) & 0xff)
      await sandbox.fs.write('large', bytes)
      const copy = await create()
      await move(sandbox, copy, ['large'])
      assert.ok(Buffer.from(await copy.fs.readBytes('large')).equals(bytes))
    },
    NEEDS,
  ),
  sandboxCase(
    'archive.pack.directory-alone',
    'a directory is packed without what it holds',
    async (sandbox, { create }) => {
      await sandbox.fs.write('dir/inside', 'x')
      const copy = await create()
      await move(sandbox, copy, ['dir'])
      assert.deepEqual(await copy.fs.list('dir'), [])
    },
    NEEDS,
  ),
  sandboxCase(
    'archive.pack.vanished',
    'a path that vanished is left out',
    async (sandbox, { create }) => {
      await sandbox.fs.write('kept', 'x')
      const copy = await create()
      await move(sandbox, copy, ['gone', 'kept', 'no/such/parent'])
      assert.deepEqual(
        (await copy.fs.list('.')).map(({ name }) => name),
        ['kept'],
      )
    },
    NEEDS,
  ),
  sandboxCase(
    'archive.pack.nothing',
    'an archive of nothing unpacks to nothing',
    async (sandbox, { create }) => {
      const copy = await create()
      await move(sandbox, copy, [])
      assert.deepEqual(await copy.fs.list('.'), [])
    },
    NEEDS,
  ),
  sandboxCase(
    'archive.pack.outside',
    'a path outside the workspace is refused',
    async (sandbox) => {
      for (const path of ['..', '/etc/passwd', '', 'a\0b']) {
        await rejectsWith('INVALID_PATH', () => archiveOf(sandbox).pack([path]), path)
      }
    },
    NEEDS,
  ),
]

const unpackCases: readonly ProviderCase[] = [
  sandboxCase(
    'archive.unpack.replaces',
    'unpack replaces what is there, modes and kinds too, and may be repeated',
    async (sandbox) => {
      const { fs } = sandbox
      await fs.write('file', 'old and longer')
      await fs.write('was-dir/inside', 'x')
      await fs.write('was-file', 'x')
      await fs.write('untouched', 'x')
      const entries = (): ArchiveEntry[] => [
        file('file', 'new', 0o755),
        file('was-dir', 'now a file'),
        { path: 'was-file', kind: 'dir', mode: 0o755 },
        file('was-file/inside', 'now below a directory'),
      ]
      for (let round = 0; round < 2; round += 1) {
        await archiveOf(sandbox).unpack(writeArchive(entries()))
        assert.deepEqual(
          [
            await fs.read('file'),
            await fs.read('was-dir'),
            await fs.read('was-file/inside'),
            await fs.read('untouched'),
          ],
          ['new', 'now a file', 'now below a directory', 'x'],
        )
      }
      assert.equal((await required(fs.lstat, 'lstat')('file'))?.mode, 0o100755)
    },
    NEEDS,
  ),
  sandboxCase(
    'archive.unpack.leaving',
    'an entry that would leave the root is refused',
    async (sandbox) => {
      for (const path of ['../outside', '/tmp/holdfast-outside', 'a/../../outside']) {
        await rejectsWith('INVALID_PATH', () => archiveOf(sandbox).unpack(writeArchive([file(path, 'x')])), path)
      }
      assert.equal(await outputOf(sandbox, 'ls; ls .. | grep outside || true'), '')
    },
    NEEDS,
  ),
  sandboxCase(
    'archive.unpack.through-links',
    'nothing is written through a link',
    async (sandbox) => {
      await outputOf(
        sandbox,
        'mkdir -p "$HOME/outside" && ln -s "$HOME/outside" link && ln -s "$HOME/outside/file" leaf',
      )
      await archiveOf(sandbox).unpack(writeArchive([file('link/file', 'below'), file('leaf', 'instead')]))
      assert.equal(await outputOf(sandbox, 'ls "$HOME/outside"'), '')
      assert.deepEqual([await sandbox.fs.read('link/file'), await sandbox.fs.read('leaf')], ['below', 'instead'])
    },
    [...NEEDS, 'symlinks'],
  ),
  sandboxCase(
    'archive.unpack.beneath-a-link',
    'an entry beneath a link of the same archive is refused',
    async (sandbox) => {
      await outputOf(sandbox, 'mkdir -p "$HOME/outside"')
      const home = (await outputOf(sandbox, 'echo "$HOME"')).trim()
      const entries: ArchiveEntry[] = [
        { path: 'link', kind: 'symlink', target: `${home}/outside` },
        file('link/file', 'x'),
      ]
      await rejectsWith('INVALID_PATH', () => archiveOf(sandbox).unpack(writeArchive(entries)))
      assert.equal(await outputOf(sandbox, 'ls "$HOME/outside"'), '')
    },
    [...NEEDS, 'symlinks'],
  ),
  sandboxCase(
    'archive.unpack.broken',
    'an archive that ends early is refused',
    async (sandbox) => {
      const whole = Buffer.from(await new Response(writeArchive([file('file', 'x'.repeat(5_000))])).arrayBuffer())
      const cut = new Blob([whole.subarray(0, 2_000)]).stream()
      await rejectsWith('CORRUPT_DATA', () => archiveOf(sandbox).unpack(cut))
    },
    NEEDS,
  ),
]

export const archiveCases: readonly ProviderCase[] = [...packCases, ...unpackCases]
