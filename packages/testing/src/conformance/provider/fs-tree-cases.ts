import assert from 'node:assert/strict'
import type { SandboxDirEntry, SandboxHandle } from '@holdfast/core'
import { required } from '../stores/required.ts'
import { rejectsWith } from '../stores/rejects-with.ts'
import { outputOf } from './command-output.ts'
import { eventually } from './eventually.ts'
import { sandboxCase } from './provider-case.ts'
import type { ProviderCase } from './provider-case.ts'

function byName(entries: SandboxDirEntry[]): SandboxDirEntry[] {
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function lstatOf(sandbox: SandboxHandle, path: string): ReturnType<NonNullable<SandboxHandle['fs']['lstat']>> {
  return required(sandbox.fs.lstat, 'lstat')(path)
}

const listCases: readonly ProviderCase[] = [
  sandboxCase(
    'fs.list.entries',
    'list gives name, path and type of every entry, hidden ones too',
    async ({ fs }) => {
      await fs.write('dir/.hidden', 'x')
      await fs.write('dir/file', 'x')
      await fs.mkdir('dir/sub')
      for (const path of ['dir', '/workspace/dir']) {
        assert.deepEqual(byName(await fs.list(path)), [
          { name: '.hidden', path: `${path}/.hidden`, type: 'file' },
          { name: 'file', path: `${path}/file`, type: 'file' },
          { name: 'sub', path: `${path}/sub`, type: 'dir' },
        ])
      }
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.list.links',
    'list shows links, dangling ones too, as files',
    async (sandbox) => {
      await outputOf(sandbox, 'mkdir dir && ln -s nowhere dir/dangling && ln -s .. dir/up')
      assert.deepEqual(byName(await sandbox.fs.list('dir')), [
        { name: 'dangling', path: 'dir/dangling', type: 'file' },
        { name: 'up', path: 'dir/up', type: 'file' },
      ])
    },
    ['fs', 'exec', 'symlinks'],
  ),
  sandboxCase(
    'fs.list.empty',
    'list of an empty directory is empty',
    async ({ fs }) => {
      await fs.mkdir('dir')
      assert.deepEqual(await fs.list('dir'), [])
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.list.missing',
    'list of nothing is FILE_NOT_FOUND, of a file FILE_CONFLICT',
    async ({ fs }) => {
      await fs.write('file', 'x')
      await rejectsWith('FILE_NOT_FOUND', () => fs.list('nothing'))
      await rejectsWith('FILE_CONFLICT', () => fs.list('file'))
    },
    ['fs'],
  ),
]

const changeCases: readonly ProviderCase[] = [
  sandboxCase(
    'fs.mkdir.parents',
    'mkdir makes the directory and its parents, and may be repeated',
    async ({ fs }) => {
      await fs.mkdir('a/b/c')
      await fs.mkdir('a/b/c')
      await fs.mkdir('/workspace')
      assert.deepEqual(await fs.list('a/b'), [{ name: 'c', path: 'a/b/c', type: 'dir' }])
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.mkdir.conflict',
    'mkdir over or below a file is FILE_CONFLICT',
    async ({ fs }) => {
      await fs.write('file', 'x')
      await rejectsWith('FILE_CONFLICT', () => fs.mkdir('file'))
      await rejectsWith('FILE_CONFLICT', () => fs.mkdir('file/below'))
      assert.equal(await fs.read('file'), 'x')
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.remove.all',
    'remove takes a file, or a directory with all it holds',
    async ({ fs }) => {
      await fs.write('dir/a/b', 'x')
      await fs.write('file', 'x')
      await fs.remove('dir')
      await fs.remove('file')
      assert.deepEqual(await fs.list('.'), [])
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.remove.missing',
    'remove of a missing path is fine',
    async ({ fs }) => {
      await fs.write('file', 'x')
      await fs.remove('nothing')
      await fs.remove('no/such/parent')
      await fs.remove('file/below')
      assert.equal(await fs.read('file'), 'x')
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.remove.link',
    'remove of a link leaves its target',
    async (sandbox) => {
      await sandbox.fs.write('dir/kept', 'x')
      await outputOf(sandbox, 'ln -s dir link')
      await sandbox.fs.remove('link')
      assert.equal(await sandbox.fs.read('dir/kept'), 'x')
      assert.equal(await lstatOf(sandbox, 'link'), undefined)
    },
    ['fs', 'exec', 'symlinks'],
  ),
  sandboxCase(
    'fs.remove.root',
    'the workspace root itself cannot be removed or moved',
    async ({ fs }) => {
      await fs.write('kept', 'x')
      for (const root of ['.', '/workspace', '/workspace/', 'a/..']) {
        await rejectsWith('INVALID_PATH', () => fs.remove(root), root)
        await rejectsWith('INVALID_PATH', () => fs.rename(root, 'elsewhere'), root)
      }
      assert.equal(await fs.read('kept'), 'x')
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.rename.moves',
    'rename moves files and directories, and makes missing parents',
    async ({ fs }) => {
      await fs.write('dir/file', 'x')
      await fs.rename('dir', 'a/b/moved')
      await fs.rename('a/b/moved/file', 'c/file')
      assert.equal(await fs.read('c/file'), 'x')
      assert.equal(await fs.exists('dir'), false)
      assert.deepEqual(await fs.list('a/b/moved'), [])
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.rename.replaces',
    'rename replaces a file',
    async ({ fs }) => {
      await fs.write('from', 'new')
      await fs.write('to', 'old')
      await fs.rename('from', 'to')
      assert.equal(await fs.read('to'), 'new')
      assert.equal(await fs.exists('from'), false)
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.rename.refuses',
    'rename of nothing is FILE_NOT_FOUND, onto a filled directory FILE_CONFLICT',
    async ({ fs }) => {
      await fs.write('file', 'x')
      await fs.write('dir/kept', 'x')
      await rejectsWith('FILE_NOT_FOUND', () => fs.rename('nothing', 'to'))
      await rejectsWith('FILE_CONFLICT', () => fs.rename('file', 'dir'))
      assert.deepEqual([await fs.read('file'), await fs.read('dir/kept'), await fs.exists('to')], ['x', 'x', false])
    },
    ['fs'],
  ),
]

const lookCases: readonly ProviderCase[] = [
  sandboxCase(
    'fs.exists',
    'exists is true for what is there and false for what is known to be absent',
    async ({ fs }) => {
      await fs.write('dir/file', 'x')
      const answers = await Promise.all(
        ['dir', 'dir/file', '/workspace', 'nothing', 'no/parent'].map((path) => fs.exists(path)),
      )
      assert.deepEqual(answers, [true, true, true, false, false])
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.exists.below-a-file',
    'nothing exists below a file',
    async (sandbox) => {
      await sandbox.fs.write('file', 'x')
      assert.equal(await sandbox.fs.exists('file/below'), false)
      assert.equal(await lstatOf(sandbox, 'file/below'), undefined)
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.exists.dangling',
    'a dangling link is absent',
    async (sandbox) => {
      await outputOf(sandbox, 'ln -s nowhere dangling')
      assert.equal(await sandbox.fs.exists('dangling'), false)
    },
    ['fs', 'exec', 'symlinks'],
  ),
  sandboxCase(
    'fs.lstat',
    'lstat gives type, mode with type bits, and size',
    async (sandbox) => {
      await sandbox.fs.write('dir/file', 'é!')
      await outputOf(sandbox, 'chmod 750 dir && chmod 604 dir/file')
      assert.deepEqual(await lstatOf(sandbox, 'dir'), { type: 'dir', mode: 0o040750 })
      assert.deepEqual(await lstatOf(sandbox, 'dir/file'), { type: 'file', mode: 0o100604, size: 3 })
      assert.equal(await lstatOf(sandbox, 'nothing'), undefined)
    },
    ['fs', 'exec'],
  ),
  sandboxCase(
    'fs.lstat.link',
    'lstat does not follow links',
    async (sandbox) => {
      await outputOf(sandbox, 'mkdir dir && ln -s dir link && ln -s nowhere dangling')
      for (const path of ['link', 'dangling']) {
        const stat = required(await lstatOf(sandbox, path), path)
        assert.deepEqual([stat.type, stat.mode & 0o170000], ['symlink', 0o120000], path)
      }
    },
    ['fs', 'exec', 'symlinks'],
  ),
  sandboxCase(
    'fs.lstat.other',
    'lstat tells other entries apart, and reading one is refused',
    async (sandbox) => {
      await outputOf(sandbox, 'mkfifo pipe')
      assert.equal((await lstatOf(sandbox, 'pipe'))?.type, 'other')
      await rejectsWith('FILE_CONFLICT', () => sandbox.fs.read('pipe'))
    },
    ['fs', 'exec', 'specialFiles'],
  ),
  sandboxCase(
    'fs.chmod',
    'chmod sets the permission bits',
    async (sandbox) => {
      const chmod = required(sandbox.fs.chmod, 'chmod')
      await sandbox.fs.write('file', 'x')
      for (const mode of [0o755, 0o600, 0o444]) {
        await chmod('file', mode)
        assert.equal((await lstatOf(sandbox, 'file'))?.mode, 0o100000 | mode)
      }
      await rejectsWith('FILE_NOT_FOUND', () => chmod('nothing', 0o644))
    },
    ['fs', 'chmod'],
  ),
  sandboxCase(
    'fs.watch',
    'watch tells of changes below the path until it is stopped',
    async (sandbox) => {
      await sandbox.fs.write('dir/changed', 'x')
      await sandbox.fs.write('dir/deleted', 'x')
      const seen = new Set<string>()
      const watch = await required(sandbox.fs.watch, 'watch')('dir', ({ path }) =>
        seen.add(path.replace(/^.*\/dir\//, '')),
      )
      await sandbox.fs.write('dir/changed', 'longer')
      await sandbox.fs.write('dir/made/deep', 'x')
      await sandbox.fs.remove('dir/deleted')
      await sandbox.fs.write('elsewhere', 'x')
      const expected = ['changed', 'deleted', 'made/deep']
      await eventually(async () => expected.filter((name) => seen.has(name)), expected)
      assert.equal(
        [...seen].some((path) => path.includes('elsewhere')),
        false,
      )
      await watch.stop()
      await watch.stop()
    },
    ['fs', 'watch'],
  ),
]

export const fsTreeCases: readonly ProviderCase[] = [...listCases, ...changeCases, ...lookCases]
