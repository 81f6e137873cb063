import { inject } from '../vitest-peer.ts'
import type { ProvidedContext } from 'vitest'
import { canStartPostgres } from './postgres-binaries.ts'
import type { PostgresVersion } from './postgres-binaries.ts'
import { postgresDatabases } from './postgres-databases.ts'
import type { PostgresDatabases } from './postgres-databases.ts'
import { startPostgres } from './start-postgres.ts'
import type { StartPostgresOptions } from './start-postgres.ts'

/** Which servers a run of tests shares. */
export interface SharedPostgresOptions extends Pick<StartPostgresOptions, 'settings'> {
  /** Default 18 alone. A version that cannot be started here is left out; `sharedPostgres` then says why. */
  versions?: readonly PostgresVersion[]
}

declare module 'vitest' {
  interface ProvidedContext {
    /** URLs of the servers that `postgresGlobalSetup` started, by version. */
    holdfastPostgresUrls: Readonly<Record<string, string>>
  }
}

/** What vitest gives a global setup, as far as it is needed here. */
interface SetupContext {
  provide: <K extends keyof ProvidedContext & string>(key: K, value: ProvidedContext[K]) => void
}

/**
 * One server for all test files of a run. A global setup file is two lines:
 * `import { postgresGlobalSetup } from '@holdfast/testing/vitest'` and `export default postgresGlobalSetup()`.
 */
export function postgresGlobalSetup(
  options: SharedPostgresOptions = {},
): (context: SetupContext) => Promise<() => Promise<void>> {
  const { versions = [18], ...rest } = options
  return async ({ provide }) => {
    const startable = versions.filter((version) => canStartPostgres(version) === true)
    const servers = await Promise.all(startable.map((version) => startPostgres({ ...rest, version })))
    provide('holdfastPostgresUrls', Object.fromEntries(servers.map(({ version, url }) => [String(version), url])))
    return async () => {
      await Promise.all(servers.map((server) => server.stop()))
    }
  }
}

/** Databases on the server that `postgresGlobalSetup` started; throws why when there is none. */
export function sharedPostgres(version: PostgresVersion = 18): PostgresDatabases & { readonly url: string } {
  // Without the setup nothing was provided, whatever the type says.
  const urls = inject('holdfastPostgresUrls') as ProvidedContext['holdfastPostgresUrls'] | undefined
  const url = urls?.[String(version)]
  if (url !== undefined) return { url, ...postgresDatabases(url) }
  const reason = canStartPostgres(version)
  if (reason !== true) throw new Error(reason)
  throw new Error(
    `PostgreSQL ${version} was not started. Put postgresGlobalSetup into test.globalSetup of this package.`,
  )
}
