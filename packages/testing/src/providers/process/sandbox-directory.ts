import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  rmdir,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { decodeJson } from '@holdfast/core'
import { errnoOf, isAbsence } from '../files/file-error.ts'

/** What is kept beside a workspace, so that another host process finds the sandbox. Holds no variable's value. */
export interface SandboxRecord {
  id: string
  /** Unique to this sandbox on this machine: marks its processes. */
  instance: string
  labels: Readonly<Record<string, string>>
  /** Epoch milliseconds. */
  createdAt: number
  state: 'running' | 'stopped'
}

/** One sandbox's directories. `path` holds the others. */
export interface SandboxPaths {
  path: string
  workspace: string
  home: string
  temporary: string
  /** For files of the host's own that commands need. */
  staging: string
}

const RECORD_FILE = 'sandbox.json'
const CONTENT_DIRS = ['workspace', 'home'] as const
const SCRATCH_DIRS = ['tmp', 'staging'] as const
const BUILDING_PREFIX = '.building-'
/** Of the id's hash, so that any id makes a short and plain directory name. */
const NAME_HASH_DIGITS = 32

/** The directory that holds one provider's sandboxes, each in a directory of its own. */
export class SandboxDirectory {
  readonly #given: string | undefined
  #root: Promise<string> | undefined

  constructor(dir: string | undefined) {
    this.#given = dir
  }

  root(): Promise<string> {
    this.#root ??= this.#open()
    this.#root.catch(() => (this.#root = undefined))
    return this.#root
  }

  async paths(id: string): Promise<SandboxPaths> {
    const name = createHash('sha256').update(id).digest('hex').slice(0, NAME_HASH_DIGITS)
    return pathsIn(join(await this.root(), name))
  }

  /** Null when there is no such sandbox. */
  async find(id: string): Promise<SandboxRecord | null> {
    return readRecord((await this.paths(id)).path)
  }

  async list(): Promise<SandboxRecord[]> {
    const root = await this.root()
    const names = (await readdir(root)).filter((name) => !name.startsWith('.'))
    const records = await Promise.all(names.map((name) => readRecord(join(root, name))))
    return records.filter((record) => record !== null)
  }

  /**
   * Makes the directories and the record in one step, with a copy of what `contentFrom` holds. False when a sandbox with
   * the id is there already.
   */
  async add(record: SandboxRecord, contentFrom?: string): Promise<boolean> {
    const building = join(await this.root(), `${BUILDING_PREFIX}${randomUUID()}`)
    try {
      await mkdir(building)
      for (const name of SCRATCH_DIRS) await mkdir(join(building, name))
      for (const name of CONTENT_DIRS) {
        if (contentFrom === undefined) await mkdir(join(building, name))
        else await copyTree(join(contentFrom, name), join(building, name))
      }
      await writeRecord(building, record)
      await rename(building, (await this.paths(record.id)).path)
      return true
    } catch (error) {
      await rm(building, { recursive: true, force: true })
      if (errnoOf(error) === 'ENOTEMPTY' || errnoOf(error) === 'EEXIST') return false
      throw error
    }
  }

  async update(record: SandboxRecord): Promise<void> {
    await writeRecord((await this.paths(record.id)).path, record)
  }

  /** Removes everything of the sandbox, the record last, so that a removal that failed can be repeated. */
  async remove(id: string): Promise<void> {
    const { path, ...parts } = await this.paths(id)
    for (const part of Object.values(parts)) await removeTree(part)
    await removeTree(path)
    if (this.#given === undefined) await this.#dropIfEmpty()
  }

  async #open(): Promise<string> {
    if (this.#given === undefined) return realpath(await mkdtemp(join(tmpdir(), 'holdfast-sandboxes-')))
    await mkdir(this.#given, { recursive: true })
    return realpath(this.#given)
  }

  async #dropIfEmpty(): Promise<void> {
    const root = await this.root()
    try {
      await rmdir(root)
      this.#root = undefined
    } catch (error) {
      if (errnoOf(error) !== 'ENOTEMPTY' && !isAbsence(error)) throw error
    }
  }
}

function pathsIn(path: string): SandboxPaths {
  return {
    path,
    workspace: join(path, 'workspace'),
    home: join(path, 'home'),
    temporary: join(path, 'tmp'),
    staging: join(path, 'staging'),
  }
}

/** Copies a directory with modes, times and links as they are. */
export async function copyTree(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', from, to])
}

async function readRecord(path: string): Promise<SandboxRecord | null> {
  try {
    return decodeJson(await readFile(join(path, RECORD_FILE), 'utf8'), 'sandbox record') as SandboxRecord
  } catch (error) {
    if (isAbsence(error)) return null
    throw error
  }
}

async function writeRecord(path: string, record: SandboxRecord): Promise<void> {
  const staged = join(path, `${RECORD_FILE}.${randomUUID()}`)
  await writeFile(staged, JSON.stringify(record), { mode: 0o600 })
  await rename(staged, join(path, RECORD_FILE))
}

async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
  } catch (error) {
    if (errnoOf(error) !== 'EACCES' && errnoOf(error) !== 'EPERM') throw error
    await openDirectories(path)
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Lets this user into directories that the sandbox has closed, so that they can be removed. */
async function openDirectories(path: string): Promise<void> {
  if (!(await lstat(path)).isDirectory()) return
  await chmod(path, 0o700)
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await openDirectories(join(path, entry.name))
  }
}
