import { dirname } from 'node:path/posix'
import { ConflictError } from '@holdfast/core'
import type {
  SandboxBackendFs,
  SandboxDirEntry,
  SandboxFileStat,
  SandboxFileWatch,
  SandboxFileWatchEvent,
} from '@holdfast/core'
import { confinedPath } from './confined-path.ts'
import { fileError, isAbsence, sandboxGone } from './file-error.ts'
import type { PosixFiles, PosixStat } from './posix-files.ts'
import type { TreeWatcher } from './tree-watcher.ts'

const PERMISSION_BITS = 0o7777

export interface ConfinedFsOptions {
  files: PosixFiles
  /** The real workspace directory. */
  root: string
  watcher: TreeWatcher
}

/** The files of one workspace, reached from outside the sandbox. No call follows a link out of the workspace. */
export class ConfinedFs implements SandboxBackendFs {
  readonly #files: PosixFiles
  readonly #root: string
  readonly #watcher: TreeWatcher

  constructor(options: ConfinedFsOptions) {
    this.#files = options.files
    this.#root = options.root
    this.#watcher = options.watcher
  }

  readBytes(path: string): Promise<Uint8Array> {
    return this.#at('read', path, async (real) => {
      // A pipe or a device would hold the call up for ever.
      const { type } = await this.#files.stat(real)
      if (type !== 'file') throw conflict(path, 'is not a file')
      return this.#files.readFile(real)
    })
  }

  write(path: string, data: Uint8Array): Promise<void> {
    return this.#at('write', path, async (real) => {
      const existing = await foundOrAbsent(this.#files.stat(real))
      if (existing !== undefined && existing.type !== 'file') throw conflict(path, 'is not a file')
      if (existing === undefined) await this.#files.mkdir(dirname(real))
      await this.#files.replaceFile(real, data, existing === undefined ? undefined : existing.mode & PERMISSION_BITS)
    })
  }

  list(path: string): Promise<SandboxDirEntry[]> {
    return this.#at('list', path, async (real) => {
      const entries = await this.#files.readdir(real)
      return entries.map(({ name, isDirectory }) => ({
        name,
        path: `${path}/${name}`,
        type: isDirectory ? ('dir' as const) : ('file' as const),
      }))
    })
  }

  mkdir(path: string): Promise<void> {
    return this.#at('mkdir', path, (real) => this.#files.mkdir(real))
  }

  remove(path: string): Promise<void> {
    return this.#atEntry('remove', path, async (real) => {
      if ((await foundOrAbsent(this.#files.lstat(real))) !== undefined) await this.#files.rm(real)
    })
  }

  rename(from: string, to: string): Promise<void> {
    return this.#atEntry('rename', from, async (realFrom) => {
      if ((await foundOrAbsent(this.#files.lstat(realFrom))) === undefined) throw missing()
      const realTo = await confinedPath({ files: this.#files, root: this.#root, path: to, followLast: false })
      await this.#files.mkdir(dirname(realTo))
      await this.#files.rename(realFrom, realTo)
    })
  }

  exists(path: string): Promise<boolean> {
    return this.#at('exists', path, async (real) => (await foundOrAbsent(this.#files.stat(real))) !== undefined)
  }

  lstat(path: string): Promise<SandboxFileStat | undefined> {
    return this.#atEntry('lstat', path, async (real) => {
      const stat = await foundOrAbsent(this.#files.lstat(real))
      if (stat === undefined) return undefined
      const { type, mode, size } = stat
      return type === 'file' ? { type, mode, size } : { type, mode }
    })
  }

  readlink(path: string): Promise<string> {
    return this.#atEntry('readlink', path, async (real) => {
      const { type } = await this.#files.lstat(real)
      if (type !== 'symlink') throw conflict(path, 'is not a link')
      return this.#files.readlink(real)
    })
  }

  symlink(target: string, path: string): Promise<void> {
    return this.#atEntry('symlink', path, async (real) => {
      await this.#files.mkdir(dirname(real))
      await this.#files.symlink(target, real)
    })
  }

  chmod(path: string, mode: number): Promise<void> {
    return this.#at('chmod', path, (real) => this.#files.chmod(real, mode & PERMISSION_BITS))
  }

  watch(path: string, onEvent: (event: SandboxFileWatchEvent) => void): Promise<SandboxFileWatch> {
    return this.#at('watch', path, async (real) => {
      await this.#files.readdir(real)
      return this.#watcher.watch({ files: this.#files, root: real, onEvent })
    })
  }

  /** Runs `work` on what the path stands for, links followed. */
  #at<T>(call: string, path: string, work: (real: string) => Promise<T>): Promise<T> {
    return this.#run(call, { path, followLast: true }, work)
  }

  /** Runs `work` on the path's own entry, a link at its end not followed. */
  #atEntry<T>(call: string, path: string, work: (real: string) => Promise<T>): Promise<T> {
    return this.#run(call, { path, followLast: false }, work)
  }

  async #run<T>(
    call: string,
    at: { path: string; followLast: boolean },
    work: (real: string) => Promise<T>,
  ): Promise<T> {
    // Without this a write would make the directory of a destroyed sandbox again.
    if ((await foundOrAbsent(this.#files.lstat(this.#root))) === undefined) throw sandboxGone()
    try {
      return await work(await confinedPath({ files: this.#files, root: this.#root, ...at }))
    } catch (error) {
      throw fileError(error, `${call} ${at.path.slice(this.#root.length + 1) || '.'}`)
    }
  }
}

function conflict(path: string, what: string): ConflictError {
  return new ConflictError('FILE_CONFLICT', `${path} ${what}.`)
}

function missing(): Error {
  return Object.assign(new Error('nothing to rename'), { code: 'ENOENT' })
}

async function foundOrAbsent(stat: Promise<PosixStat>): Promise<PosixStat | undefined> {
  try {
    return await stat
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}
