import assert from 'node:assert/strict'
import type { SandboxFs, SandboxHandle } from '@holdfast/core'
import { required } from '../stores/required.ts'
import { rejectsWith } from '../stores/rejects-with.ts'
import { outputOf } from './command-output.ts'
import { ODD_NAMES } from './odd-text.ts'
import { sandboxCase } from './provider-case.ts'
import type { ProviderCase } from './provider-case.ts'

const BAD_PATHS = ['', 'a\0b', '..', '../outside', 'a/../../outside', '/etc/passwd', '/workspace/../etc', '/']

/** Every call that takes a path, by name. */
function callsOn(fs: SandboxFs, path: string): Record<string, () => Promise<unknown>> {
  return {
    read: () => fs.read(path),
    readBytes: () => fs.readBytes(path),
    write: () => fs.write(path, 'x'),
    list: () => fs.list(path),
    mkdir: () => fs.mkdir(path),
    remove: () => fs.remove(path),
    'rename from': () => fs.rename(path, 'to'),
    'rename to': () => fs.rename('from', path),
    exists: () => fs.exists(path),
    lstat: () => required(fs.lstat, 'lstat')(path),
  }
}

/** A deep path, near what systems allow. */
const DEEP_PATH = Array.from({ length: 12 }, (_, depth) => `${depth}`.padEnd(240, '-')).join('/')

const pathCases: readonly ProviderCase[] = [
  sandboxCase(
    'fs.path.refused',
    'every call refuses a path that is malformed or leaves the workspace',
    async ({ fs }) => {
      await fs.write('from', 'x')
      for (const path of BAD_PATHS) {
        for (const [name, call] of Object.entries(callsOn(fs, path))) {
          await rejectsWith('INVALID_PATH', call, `${name}(${JSON.stringify(path)})`)
        }
      }
      assert.deepEqual(
        (await fs.list('.')).map(({ name }) => name),
        ['from'],
      )
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.path.virtual-root',
    '/workspace, a relative path and the real root name the same file',
    async (sandbox) => {
      await sandbox.fs.write('dir/file', 'x')
      const real = sandbox.workspaceRoot ?? '/workspace'
      for (const path of ['dir/file', './dir//file', 'dir/../dir/file', '/workspace/dir/file', `${real}/dir/file`]) {
        assert.equal(await sandbox.fs.read(path), 'x', path)
      }
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.path.names',
    'names are taken byte for byte',
    async ({ fs }) => {
      for (const name of ODD_NAMES) await fs.write(`dir/${name}`, name)
      const listed = await fs.list('dir')
      assert.deepEqual(listed.map(({ name }) => name).sort(), [...ODD_NAMES].sort())
      for (const name of ODD_NAMES) assert.equal(await fs.read(`dir/${name}`), name)
      for (const { name, path } of listed) {
        assert.equal(path, `dir/${name}`)
        await fs.rename(path, `moved/${name}`)
        await fs.remove(`moved/${name}`)
      }
      assert.deepEqual(await fs.list('moved'), [])
    },
    ['fs'],
  ),
  sandboxCase(
    'fs.path.names-in-commands',
    'a command sees the same names',
    async (sandbox) => {
      for (const name of ODD_NAMES) {
        await sandbox.fs.write(`dir/${name}`, `content of ${name}`)
        assert.equal(await outputOf(sandbox, 'cat -- "dir/$NAME"', { NAME: name }), `content of ${name}`)
      }
      assert.equal(await sandbox.fs.exists('pwned'), false)
    },
    ['fs', 'exec', 'env'],
  ),
  sandboxCase(
    'fs.path.deep',
    'a path of thousands of bytes works',
    async ({ fs }) => {
      await fs.write(`${DEEP_PATH}/file`, 'deep')
      assert.equal(await fs.read(`${DEEP_PATH}/file`), 'deep')
      await fs.remove(DEEP_PATH.split('/')[0] as string)
      assert.deepEqual(await fs.list('.'), [])
    },
    ['fs'],
  ),
]

const linkCases: readonly ProviderCase[] = [
  sandboxCase(
    'fs.links.make-and-read',
    'symlink makes a link with exactly the target that readlink gives',
    async (sandbox) => {
      const { symlink, readlink } = linkCalls(sandbox)
      const targets = ['dir/file', '../up', '/absolute/target', ' spaces ', 'é', './dir/', '$(touch pwned)']
      for (const [index, target] of targets.entries()) {
        await symlink(target, `links/${index}`)
        assert.equal(await readlink(`links/${index}`), target)
      }
      assert.equal(await sandbox.fs.exists('pwned'), false)
    },
    ['fs', 'symlinks'],
  ),
  sandboxCase(
    'fs.links.followed',
    'read, write, list and exists follow links inside the workspace',
    async (sandbox) => {
      const { fs } = sandbox
      await fs.write('dir/file', 'x')
      await linkCalls(sandbox).symlink('dir', 'link')
      await linkCalls(sandbox).symlink('link/file', 'again')
      assert.deepEqual(
        [await fs.read('again'), (await fs.list('link')).length, await fs.exists('again')],
        ['x', 1, true],
      )
      await fs.write('link/new', 'through a link')
      assert.equal(await fs.read('dir/new'), 'through a link')
    },
    ['fs', 'symlinks'],
  ),
  sandboxCase(
    'fs.links.refused',
    'symlink over something and readlink of no link are FILE_CONFLICT',
    async (sandbox) => {
      const { symlink, readlink } = linkCalls(sandbox)
      await sandbox.fs.write('file', 'x')
      await symlink('file', 'link')
      await rejectsWith('FILE_CONFLICT', () => symlink('other', 'file'))
      await rejectsWith('FILE_CONFLICT', () => symlink('other', 'link'))
      await rejectsWith('FILE_CONFLICT', () => readlink('file'))
      await rejectsWith('FILE_NOT_FOUND', () => readlink('nothing'))
      assert.equal(await readlink('link'), 'file')
    },
    ['fs', 'symlinks'],
  ),
  sandboxCase(
    'fs.links.loop',
    'a loop of links is an error, not an absence',
    async (sandbox) => {
      await linkCalls(sandbox).symlink('b', 'a')
      await linkCalls(sandbox).symlink('a', 'b')
      await rejectsWith('FILE_FAILED', () => sandbox.fs.read('a'))
      await rejectsWith('FILE_FAILED', () => sandbox.fs.exists('a'))
    },
    ['fs', 'symlinks'],
  ),
  sandboxCase(
    'fs.links.confined',
    'no call follows a link out of the workspace',
    async (sandbox) => {
      await outputOf(sandbox, 'mkdir -p "$HOME/outside" && echo secret > "$HOME/outside/file"')
      const home = (await outputOf(sandbox, 'echo "$HOME"')).trim()
      await linkCalls(sandbox).symlink(`${home}/outside`, 'absolute')
      await linkCalls(sandbox).symlink('../'.repeat(20).slice(0, -1) + home + '/outside', 'relative')
      await linkCalls(sandbox).symlink('absolute', 'chained')
      await sandbox.fs.write('from', 'x')
      for (const link of ['absolute', 'relative', 'chained']) {
        const { 'rename from': _from, ...calls } = callsOn(sandbox.fs, `${link}/file`)
        for (const [name, call] of Object.entries(calls))
          await rejectsWith('INVALID_PATH', call, `${name} through ${link}`)
        await rejectsWith('INVALID_PATH', () => sandbox.fs.list(link), link)
      }
      assert.equal(await outputOf(sandbox, 'cd "$HOME/outside" && ls && cat file'), 'file\nsecret\n')
    },
    ['fs', 'exec', 'symlinks', 'confinedLinks'],
  ),
]

function linkCalls({ fs }: SandboxHandle): Required<Pick<SandboxFs, 'symlink' | 'readlink'>> {
  return { symlink: required(fs.symlink, 'symlink'), readlink: required(fs.readlink, 'readlink') }
}

export const fsPathCases: readonly ProviderCase[] = [...pathCases, ...linkCases]
