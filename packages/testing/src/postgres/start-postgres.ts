import { findPostgresBinaries } from './postgres-binaries.ts'
import type { PostgresVersion } from './postgres-binaries.ts'
import { postgresDatabases } from './postgres-databases.ts'
import type { PostgresDatabases } from './postgres-databases.ts'
import { createPostgresDirectory, fillPostgresDirectory } from './postgres-directory.ts'
import type { PostgresDirectory } from './postgres-directory.ts'
import { findFreePort } from './postgres-port.ts'
import { PostgresWatchdog } from './postgres-watchdog.ts'
import { startPatiently } from './start-patiently.ts'

/** Version and settings of a test server. */
export interface StartPostgresOptions {
  /** Default 18. */
  version?: PostgresVersion
  /** Server settings, as `{ max_connections: 20 }`. */
  settings?: Readonly<Record<string, string | number | boolean>>
}

/** A real PostgreSQL of one test process. It ends with the process, however that ends, and leaves no directory. */
export interface TestPostgres extends PostgresDatabases {
  /** Of the database `postgres`, for any user name and without a password. */
  readonly url: string
  readonly port: number
  readonly version: PostgresVersion
  /** Where the server's Unix socket stands. */
  readonly socketDirectory: string
  /** The end of the server's log. */
  readonly log: string
  /** Starts the server again on the same port and data, ending it first (clients are cut off) if it runs. */
  restart: () => Promise<void>
  /** Ends the server as `kill -9` does and leaves it down; `restart` brings it back through crash recovery. */
  kill9: () => Promise<void>
  /** Ends the server and removes its directory. Repeatable. */
  stop: () => Promise<void>
}

/** Nothing is flushed to disk, because the data never outlives the process. Commits do survive `kill9` and `restart`. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  fsync: false,
  full_page_writes: false,
  max_connections: 200,
  shared_buffers: '32MB',
}

/** Starts a server. Takes about a second. `PEER_MISSING` when its binaries are not installed. */
export async function startPostgres(options: StartPostgresOptions = {}): Promise<TestPostgres> {
  const version = options.version ?? 18
  const binaries = findPostgresBinaries(version)
  const directory = createPostgresDirectory(binaries)
  const watchdog = new PostgresWatchdog(directory, serverArguments(directory, options.settings))
  try {
    await fillPostgresDirectory(directory, binaries)
    const port = await startPatiently(watchdog, findFreePort)
    return runningServer({ version, directory, watchdog, port })
  } catch (error) {
    await watchdog.end()
    throw error
  }
}

function runningServer(server: {
  version: PostgresVersion
  directory: PostgresDirectory
  watchdog: PostgresWatchdog
  port: number
}): TestPostgres {
  const { version, directory, watchdog, port } = server
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  return {
    ...postgresDatabases(url),
    url,
    port,
    version,
    socketDirectory: directory.path,
    get log() {
      return watchdog.log
    },
    async restart() {
      await watchdog.signal('INT')
      await startPatiently(watchdog, () => Promise.resolve(port))
    },
    kill9: () => watchdog.signal('KILL'),
    stop: () => watchdog.end(),
  }
}

/** The command line of the server, without its port. */
export function serverArguments(
  directory: PostgresDirectory,
  settings: StartPostgresOptions['settings'] = {},
): string[] {
  const all = { ...SETTINGS, unix_socket_directories: directory.path, ...settings }
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
