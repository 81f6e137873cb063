import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { NextConfig } from 'next'

const repositoryRoot = join(import.meta.dirname, '..', '..')

/** The condition under which this repository's packages export their sources. Turbopack can be given none. */
const SOURCE_CONDITION = '@holdfast/source'

interface Manifest {
  name: string
  exports: Record<string, string | Record<string, string>>
}

/** The source of every entry of the packages, so that neither a build nor the development server waits for theirs. */
function sourceAliases(): Record<string, string> {
  const aliases = readdirSync(join(repositoryRoot, 'packages')).flatMap((folder) => {
    const path = join(repositoryRoot, 'packages', folder, 'package.json')
    if (!existsSync(path)) return []
    const { name, exports } = JSON.parse(readFileSync(path, 'utf8')) as Manifest
    return Object.entries(exports).flatMap(([entry, target]) => {
      const source = typeof target === 'string' ? undefined : target[SOURCE_CONDITION]
      return source ? [[posix.join(name, entry), posix.join('../../packages', folder, source)]] : []
    })
  })
  return Object.fromEntries(aliases)
}

/** What the Daytona SDK loads in ways that tracing does not see: for downloads, and with the newest export conditions. */
const LOADED_UNSEEN = ['busboy', 'streamsearch', 'async-function', 'async-generator-function', 'generator-function']

const config: NextConfig = {
  reactStrictMode: true,
  poweredByHeader: false,
  agentRules: false,
  // Off: what costs nearly half of the first build, which is the one that people wait for (a cache for the builds after it, a
  // smaller server, and source maps for it, which Node reads only with `--enable-source-maps`), and the development
  // server's cache, out of which it can tell a page to load again, for ever (Next.js 16.4).
  experimental: {
    turbopackFileSystemCacheForBuild: false,
    turbopackFileSystemCacheForDev: false,
    turbopackSourceMaps: process.env.NODE_ENV === 'development',
    serverMinification: false,
  },
  // `HOLDFAST_STANDALONE=1 npm run build` makes a folder that runs without node_modules.
  ...(process.env['HOLDFAST_STANDALONE'] === '1' ? { output: 'standalone' } : {}),
  outputFileTracingRoot: repositoryRoot,
  outputFileTracingIncludes: { '/api/**': LOADED_UNSEEN.map((name) => `../../node_modules/${name}/**`) },
  turbopack: {
    root: repositoryRoot,
    resolveAlias: sourceAliases(),
    // The script of the sandbox's agent is part of the app.
    rules: { '*': { condition: { query: '?raw' }, type: 'text' } },
    // Local sandboxes are folders with names that only the running server knows.
    ignoreIssue: [{ path: '**/packages/testing/**', title: /Dynamic filesystem access/ }],
  },
  webpack: (config) => {
    config.module.rules.push({ resourceQuery: /^\?raw$/, type: 'asset/source' })
    return config
  },
  // Loaded by Node itself: they hold connections, WASM and native files. (Here the workspace's own packages are bundled
  // all the same, because they are not in node_modules.)
  serverExternalPackages: [
    '@holdfast/core',
    '@holdfast/middleware',
    '@holdfast/provider-daytona',
    '@holdfast/store-drizzle',
    '@holdfast/testing',
    '@daytonaio/sdk',
    '@electric-sql/pglite',
    '@lydell/node-pty',
    '@tanstack/ai',
    '@tanstack/ai-anthropic',
    '@tanstack/ai-openai',
    'just-bash',
    'postgres',
  ],
  // The typecheck target covers the app and its tests with the repository's own compiler.
  typescript: { ignoreBuildErrors: true },
}

export default config
