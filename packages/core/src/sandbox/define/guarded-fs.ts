import { InvalidInputError } from '../../errors/error-classes.ts'
import { decodeUtf8 } from '../../provider-kit/utf8-text-decoder.ts'
import type { SandboxFs } from '../sandbox-fs.ts'
import type { HandleScope } from './handle-scope.ts'

const MAX_MODE = 0o7777

/** Files with paths mapped and confined, text encoded, and arguments checked. */
export function guardedFs(scope: HandleScope): SandboxFs {
  const { fs } = scope.backend
  const call = <T>(operation: string, run: () => Promise<T>): Promise<T> =>
    scope.call(`fs.${operation}`, undefined, () => {
      scope.require('fs')
      return run()
    })
  return {
    read: (path) => call('read', async () => decodeUtf8(await fs.readBytes(scope.path(path)))),
    readBytes: (path) => call('readBytes', () => fs.readBytes(scope.path(path))),
    write: (path, data) => call('write', () => fs.write(scope.pathBelowRoot(path), contentBytes(data))),
    list: (path) =>
      call('list', async () => {
        const entries = await fs.list(scope.path(path))
        const parent = path.replace(/\/+$/, '')
        return entries.map(({ name, type }) => ({ name, path: `${parent}/${name}`, type }))
      }),
    mkdir: (path) => call('mkdir', () => fs.mkdir(scope.path(path))),
    remove: (path) => call('remove', () => fs.remove(scope.pathBelowRoot(path))),
    rename: (from, to) => call('rename', () => fs.rename(scope.pathBelowRoot(from), scope.pathBelowRoot(to))),
    exists: (path) => call('exists', () => fs.exists(scope.path(path))),
    lstat: (path) => call('lstat', () => fs.lstat(scope.path(path))),
    ...linkMethods(scope, call),
    ...optionalMethods(scope, call),
  }
}

type Call = <T>(operation: string, run: () => Promise<T>) => Promise<T>

function linkMethods(scope: HandleScope, call: Call): Pick<SandboxFs, 'readlink' | 'symlink'> {
  const { fs } = scope.backend
  const { readlink, symlink } = fs
  if (scope.capabilities.symlinks !== true || readlink === undefined || symlink === undefined) return {}
  return {
    readlink: (path) => call('readlink', () => readlink.call(fs, scope.path(path))),
    symlink: (target, path) =>
      call('symlink', () => {
        if (typeof target !== 'string' || target === '' || target.includes('\0')) {
          throw new InvalidInputError(
            'INVALID_PATH',
            'A link target must be a non-empty string without NUL characters.',
          )
        }
        return symlink.call(fs, target, scope.pathBelowRoot(path))
      }),
  }
}

function optionalMethods(scope: HandleScope, call: Call): Pick<SandboxFs, 'chmod' | 'watch'> {
  const { fs } = scope.backend
  const { chmod, watch } = fs
  const methods: Pick<SandboxFs, 'chmod' | 'watch'> = {}
  if (chmod !== undefined) {
    methods.chmod = (path, mode) => call('chmod', () => chmod.call(fs, scope.path(path), permissionBits(mode)))
  }
  if (watch !== undefined) {
    methods.watch = (path, onEvent) => call('watch', () => watch.call(fs, scope.path(path), onEvent))
  }
  return methods
}

function contentBytes(data: unknown): Uint8Array {
  if (typeof data === 'string') return new TextEncoder().encode(data)
  if (data instanceof Uint8Array) return data
  throw new InvalidInputError('INVALID_ARGUMENT', 'File content must be a string or a Uint8Array.')
}

function permissionBits(mode: number): number {
  if (Number.isInteger(mode) && mode >= 0 && mode <= MAX_MODE) return mode
  throw new InvalidInputError('INVALID_ARGUMENT', 'mode must be permission bits, 0 … 0o7777.')
}
