import { execFile } from 'node:child_process'
import {
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { StoreError } from '@holdfast/core'
import type { PostgresBinaries } from './postgres-binaries.ts'
import { canUse, unprivilegedUser } from './unprivileged-user.ts'
import type { RunsAs } from './unprivileged-user.ts'

/** A directory that holds one server: its data, its socket, and links to its program. */
export interface PostgresDirectory {
  readonly path: string
  readonly dataPath: string
  readonly postgresPath: string
  readonly user: RunsAs
}

/** Nothing of the test process reaches the server: a `PG…` variable would change it, a key would be readable in it. */
export const SERVER_ENV: NodeJS.ProcessEnv = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

/** Makes an empty directory that the server's user owns. `fillPostgresDirectory` makes it usable. */
export function createPostgresDirectory(binaries: PostgresBinaries): PostgresDirectory {
  const user = unprivilegedUser()
  const base = [tmpdir(), '/tmp', '/var/tmp'].find((candidate) => canUse(candidate, user)) ?? tmpdir()
  const path = mkdtempSync(join(base, 'holdfast-pg-'))
  giveTo(user, path)
  const bin = join(binaries.isFromNpm ? join(path, 'program') : binaries.home, 'bin')
  return { path, dataPath: join(path, 'data'), postgresPath: join(bin, 'postgres'), user }
}

/** Puts the program and an empty cluster into the directory. */
export async function fillPostgresDirectory(directory: PostgresDirectory, binaries: PostgresBinaries): Promise<void> {
  if (binaries.isFromNpm) linkProgram(binaries.home, join(directory.path, 'program'), directory.user)
  await initialise(join(dirname(directory.postgresPath), 'initdb'), directory)
}

/**
 * Lays the program out again with the library links that it needs. Only the executables are copied, because they find
 * the rest relative to their own place; everything is where the server's user may not read the original.
 */
function linkProgram(home: string, program: string, user: RunsAs): void {
  const isReadable = canUse(home, user)
  for (const name of ['', 'bin', 'lib']) {
    mkdirSync(join(program, name))
    giveTo(user, join(program, name))
  }
  const place = (from: string, to: string): void => {
    if (isReadable) symlinkSync(from, to)
    else copyAll(from, to, user)
  }
  place(join(home, 'share'), join(program, 'share'))
  for (const name of readdirSync(join(home, 'bin'))) copyFileSync(join(home, 'bin', name), join(program, 'bin', name))
  for (const name of readdirSync(join(home, 'lib'))) place(join(home, 'lib', name), join(program, 'lib', name))
  for (const { source, target } of libraryLinks(home)) {
    const link = join(program, 'lib', basename(target))
    if (!readdirSync(dirname(link)).includes(basename(link))) symlinkSync(basename(source), link)
  }
}

function libraryLinks(home: string): { source: string; target: string }[] {
  return JSON.parse(readFileSync(join(home, 'pg-symlinks.json'), 'utf8')) as { source: string; target: string }[]
}

function copyAll(from: string, to: string, user: RunsAs): void {
  cpSync(from, to, { recursive: true, verbatimSymlinks: true })
  for (const entry of readdirSync(dirname(to), { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) giveTo(user, join(entry.parentPath, entry.name))
  }
}

function giveTo(user: RunsAs, path: string): void {
  if (user.uid !== undefined && user.gid !== undefined) chownSync(path, user.uid, user.gid)
}

async function initialise(initdb: string, { path, dataPath, user }: PostgresDirectory): Promise<void> {
  const options = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions']
  try {
    await promisify(execFile)(initdb, ['-D', dataPath, ...options], { ...user, cwd: path, env: SERVER_ENV })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StoreError('STORE_FAILED', `initdb could not make a PostgreSQL cluster: ${reason}`, { cause: error })
  }
}
