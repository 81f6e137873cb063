import { randomUUID } from 'node:crypto'
import type { Stats } from 'node:fs'
import * as nodeFs from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ConflictError } from '@holdfast/core'
import type {
  SandboxBackendFs,
  SandboxDirEntry,
  SandboxFileStat,
  SandboxFileWatch,
  SandboxFileWatchEvent,
} from '@holdfast/core'
import { confinedPath } from './confined-path.ts'
import { fileError, isAbsence } from './file-error.ts'
import type { TreeWatcher } from './tree-watcher.ts'

const PERMISSION_BITS = 0o7777

export interface ProcessFsOptions {
  /** The real workspace directory. */
  root: string
  /** On the same file system as `root`, outside it: where a file is written before it takes its place. */
  stagingDir: string
  watcher: TreeWatcher
}

/** The files of one sandbox directory, reached from the host. No call follows a link out of the workspace. */
export class ProcessFs implements SandboxBackendFs {
  readonly #root: string
  readonly #stagingDir: string
  readonly #watcher: TreeWatcher

  constructor(options: ProcessFsOptions) {
    this.#root = options.root
    this.#stagingDir = options.stagingDir
    this.#watcher = options.watcher
  }

  readBytes(path: string): Promise<Uint8Array> {
    return this.#at('read', path, async (real) => new Uint8Array(await nodeFs.readFile(real)))
  }

  write(path: string, data: Uint8Array): Promise<void> {
    return this.#at('write', path, async (real) => {
      const existing = await statIfAny(real)
      if (existing !== undefined && !existing.isFile()) throw conflict(path, 'is not a file')
      await nodeFs.mkdir(dirname(real), { recursive: true })
      const staged = join(this.#stagingDir, randomUUID())
      try {
        await nodeFs.writeFile(staged, data, { flag: 'wx' })
        if (existing !== undefined) await nodeFs.chmod(staged, existing.mode & PERMISSION_BITS)
        await nodeFs.rename(staged, real)
      } catch (error) {
        await nodeFs.rm(staged, { force: true })
        throw error
      }
    })
  }

  list(path: string): Promise<SandboxDirEntry[]> {
    return this.#at('list', path, async (real) => {
      const entries = await nodeFs.readdir(real, { withFileTypes: true })
      return entries.map((entry) => ({
        name: entry.name,
        path: `${path}/${entry.name}`,
        type: entry.isDirectory() ? ('dir' as const) : ('file' as const),
      }))
    })
  }

  mkdir(path: string): Promise<void> {
    return this.#at('mkdir', path, async (real) => {
      await nodeFs.mkdir(real, { recursive: true })
    })
  }

  remove(path: string): Promise<void> {
    return this.#atEntry('remove', path, async (real) => {
      if ((await lstatIfAny(real)) !== undefined) await nodeFs.rm(real, { recursive: true, force: true })
    })
  }

  rename(from: string, to: string): Promise<void> {
    return this.#atEntry('rename', from, async (realFrom) => {
      if ((await lstatIfAny(realFrom)) === undefined) throw Object.assign(new Error('no source'), { code: 'ENOENT' })
      const realTo = await confinedPath(this.#root, to, false)
      await nodeFs.mkdir(dirname(realTo), { recursive: true })
      await nodeFs.rename(realFrom, realTo)
    })
  }

  exists(path: string): Promise<boolean> {
    return this.#at('exists', path, async (real) => (await statIfAny(real)) !== undefined)
  }

  lstat(path: string): Promise<SandboxFileStat | undefined> {
    return this.#atEntry('lstat', path, async (real) => {
      const stat = await lstatIfAny(real)
      if (stat === undefined) return undefined
      if (stat.isFile()) return { type: 'file', mode: stat.mode, size: stat.size }
      return { type: stat.isDirectory() ? 'dir' : stat.isSymbolicLink() ? 'symlink' : 'other', mode: stat.mode }
    })
  }

  readlink(path: string): Promise<string> {
    return this.#atEntry('readlink', path, async (real) => {
      const stat = await nodeFs.lstat(real)
      if (!stat.isSymbolicLink()) throw conflict(path, 'is not a link')
      return nodeFs.readlink(real)
    })
  }

  symlink(target: string, path: string): Promise<void> {
    return this.#atEntry('symlink', path, async (real) => {
      await nodeFs.mkdir(dirname(real), { recursive: true })
      await nodeFs.symlink(target, real)
    })
  }

  chmod(path: string, mode: number): Promise<void> {
    return this.#at('chmod', path, (real) => nodeFs.chmod(real, mode & PERMISSION_BITS))
  }

  watch(path: string, onEvent: (event: SandboxFileWatchEvent) => void): Promise<SandboxFileWatch> {
    return this.#at('watch', path, async (real) => {
      await nodeFs.readdir(real)
      return this.#watcher.watch(real, onEvent)
    })
  }

  /** Runs `work` on what the path stands for, links followed. */
  #at<T>(call: string, path: string, work: (real: string) => Promise<T>): Promise<T> {
    return this.#mapped(call, path, async () => work(await confinedPath(this.#root, path, true)))
  }

  /** Runs `work` on the path's own entry, a link at its end not followed. */
  #atEntry<T>(call: string, path: string, work: (real: string) => Promise<T>): Promise<T> {
    return this.#mapped(call, path, async () => work(await confinedPath(this.#root, path, false)))
  }

  async #mapped<T>(call: string, path: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw fileError(error, `${call} ${path.slice(this.#root.length + 1) || '.'}`)
    }
  }
}

function conflict(path: string, what: string): ConflictError {
  return new ConflictError('FILE_CONFLICT', `${path} ${what}.`)
}

async function statIfAny(path: string): Promise<Stats | undefined> {
  return nodeFs.stat(path).catch(absentOrThrow)
}

async function lstatIfAny(path: string): Promise<Stats | undefined> {
  return nodeFs.lstat(path).catch(absentOrThrow)
}

function absentOrThrow(error: unknown): undefined {
  if (isAbsence(error)) return undefined
  throw error
}
