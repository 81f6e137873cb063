/**
 * What a stranger installs, and what must then hold.
 *
 * @typedef {object} Project
 * @property {string} name
 * @property {string[]} install
 * @property {string[]} entries every one is imported and type-checked; only of packages that are installed by name, since
 *   pnpm lets nobody import anything else
 * @property {string[]} [absent] packages that must not come along
 * @property {string[]} [missingPeers] entries that must name the command that installs their peer
 * @property {string[]} [programs] files of `programs/`, compiled and run
 * @property {string[]} [bundled] files of `programs/`, bundled with everything that is ours and run elsewhere
 * @property {string[]} [suites] folders of `docs/guides/code`, run by the project's own vitest
 */

const VENDORS = [
  '@daytonaio/sdk',
  'drizzle-orm',
  'postgres',
  '@electric-sql/pglite',
  'vitest',
  'socket.io',
  'just-bash',
]
const without = (/** @type {string[]} */ ...wanted) => VENDORS.filter((vendor) => !wanted.includes(vendor))

const CORE = ['@holdfast/core', '@holdfast/core/provider', '@holdfast/core/provider-kit']
const MIDDLEWARE = ['@holdfast/middleware']
const DAYTONA = ['@holdfast/provider-daytona']
const STORE = ['@holdfast/store-drizzle', '@holdfast/store-drizzle/schema']
const TESTING = ['@holdfast/testing', '@holdfast/testing/daytona']

/** @type {Project[]} */
export const PROJECTS = [
  { name: 'core alone', install: ['@holdfast/core'], entries: CORE, absent: without() },
  { name: 'middleware alone', install: ['@holdfast/middleware'], entries: MIDDLEWARE, absent: without() },
  {
    name: 'daytona alone',
    install: ['@holdfast/provider-daytona'],
    entries: DAYTONA,
    absent: ['drizzle-orm', 'postgres', '@electric-sql/pglite', 'vitest', 'just-bash'],
  },
  {
    name: 'store alone',
    install: ['@holdfast/store-drizzle'],
    entries: STORE,
    absent: without('drizzle-orm'),
    programs: ['missing-store-peers.ts'],
  },
  {
    name: 'testing alone',
    install: ['@holdfast/testing'],
    entries: TESTING,
    absent: ['@daytonaio/sdk', 'drizzle-orm', '@electric-sql/pglite', 'vitest'],
    missingPeers: ['@holdfast/testing/vitest'],
  },
  {
    name: 'app developer',
    install: [
      ...MIDDLEWARE,
      ...DAYTONA,
      '@holdfast/core',
      '@holdfast/store-drizzle',
      '@holdfast/testing',
      '@electric-sql/pglite',
      '@tanstack/ai',
    ],
    entries: [...MIDDLEWARE, ...DAYTONA, ...STORE, ...CORE, ...TESTING],
    absent: ['vitest'],
    programs: ['app-developer.ts'],
    bundled: ['bundled-store.ts'],
  },
  {
    name: 'operator',
    install: [
      ...MIDDLEWARE,
      '@holdfast/core',
      '@holdfast/store-drizzle',
      '@holdfast/testing',
      'postgres',
      '@tanstack/ai',
    ],
    entries: [...MIDDLEWARE, ...STORE, ...CORE],
    absent: ['@daytonaio/sdk', '@electric-sql/pglite', 'vitest'],
    programs: ['operator.ts'],
  },
  {
    name: 'provider and store author',
    install: ['@holdfast/core', '@holdfast/testing', 'vitest'],
    entries: [...CORE, ...TESTING, '@holdfast/testing/vitest'],
    absent: ['@daytonaio/sdk', 'drizzle-orm', '@electric-sql/pglite'],
    suites: ['folder-provider', 'folder-metadata'],
  },
  {
    name: 'all together',
    install: [
      '@holdfast/core',
      ...MIDDLEWARE,
      ...DAYTONA,
      '@holdfast/store-drizzle',
      '@holdfast/testing',
      'postgres',
      '@electric-sql/pglite',
      'vitest',
    ],
    entries: [...CORE, ...MIDDLEWARE, ...DAYTONA, ...STORE, ...TESTING, '@holdfast/testing/vitest'],
  },
]

/** What a main entry may load besides its own files, core and TanStack. Anything more costs every app that imports it. */
export const LOADED_WITH = {
  '@holdfast/core': ['modern-tar'],
  '@holdfast/core/provider': /** @type {string[]} */ ([]),
  '@holdfast/core/provider-kit': ['modern-tar'],
  '@holdfast/middleware': ['diff', 'modern-tar', 'picomatch', 'unbash', 'zod'],
  '@holdfast/provider-daytona': /** @type {string[]} */ ([]),
  '@holdfast/store-drizzle': ['drizzle-orm', 'modern-tar'],
  '@holdfast/testing': ['modern-tar', 'postgres'],
}
