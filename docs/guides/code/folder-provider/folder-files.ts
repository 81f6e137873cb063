import { randomUUID } from 'node:crypto'
import * as fs from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ConflictError, NotFoundError, ProviderError } from '@holdfast/core'
import type { SandboxBackendFs, SandboxFileStat } from '@holdfast/core'

/** Files of this machine. What is written is put in `staging` first and renamed, so that nobody sees a part of it. */
export function folderFiles(staging: string): SandboxBackendFs {
  const lstat = async (path: string): Promise<SandboxFileStat | undefined> => {
    const found = await fs.lstat(path).catch(undefinedWhenAbsent)
    if (found === undefined) return undefined
    if (found.isFile()) return { type: 'file', mode: found.mode, size: found.size }
    return { type: found.isDirectory() ? 'dir' : found.isSymbolicLink() ? 'symlink' : 'other', mode: found.mode }
  }
  const follow = (path: string) => fs.stat(path).catch(undefinedWhenAbsent)

  return {
    lstat,
    readBytes: async (path) => {
      // A pipe or a device could be read for ever.
      const found = await fs.stat(path)
      if (!found.isFile() && !found.isDirectory()) throw new ConflictError('FILE_CONFLICT', `${path} is no file.`)
      return new Uint8Array(await fs.readFile(path))
    },
    write: async (path, data) => {
      const draft = join(staging, randomUUID())
      const target = await fs.realpath(path).catch(() => path)
      await fs.mkdir(dirname(path), { recursive: true })
      await fs.writeFile(draft, data)
      try {
        const existing = await follow(path)
        if (existing !== undefined) await fs.chmod(draft, existing.mode)
        await fs.rename(draft, target)
      } finally {
        await fs.rm(draft, { force: true })
      }
    },
    list: async (path) => {
      const entries = await fs.readdir(path, { withFileTypes: true })
      return entries.map((entry) => {
        return { name: entry.name, path: `${path}/${entry.name}`, type: entry.isDirectory() ? 'dir' : 'file' }
      })
    },
    mkdir: async (path) => void (await fs.mkdir(path, { recursive: true })),
    remove: (path) => fs.rm(path, { recursive: true, force: true }).catch(undefinedWhenAbsent),
    rename: async (from, to) => {
      await fs.lstat(from)
      await fs.mkdir(dirname(to), { recursive: true })
      await fs.rename(from, to)
    },
    exists: async (path) => (await follow(path)) !== undefined,
    readlink: (path) => fs.readlink(path),
    symlink: async (target, path) => {
      await fs.mkdir(dirname(path), { recursive: true })
      await fs.symlink(target, path)
    },
    chmod: (path, mode) => fs.chmod(path, mode),
  }
}

/** Node's errors as the contract tells them; what is not listed becomes `PROVIDER_FAILED` with this one as its cause. */
export function fileError(error: unknown): unknown {
  const { code, path } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return new NotFoundError('FILE_NOT_FOUND', `There is no ${path}.`, { cause: error })
  if (code !== undefined && ['EEXIST', 'EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'EINVAL'].includes(code))
    return new ConflictError('FILE_CONFLICT', `${path} is something else than it would have to be.`, { cause: error })
  if (code === undefined || path === undefined) return error
  return new ProviderError('FILE_FAILED', `The file system refused ${path}.`, { cause: error })
}

function undefinedWhenAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
  throw error
}

/** The same calls, each after a check. */
export function checkedFirst<T extends object>(calls: T, check: () => Promise<void>): T {
  const checked = Object.entries(calls).map(([name, call]) => {
    return [name, (...args: unknown[]) => check().then(() => call(...args))]
  })
  return Object.fromEntries(checked)
}
