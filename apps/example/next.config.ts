import { join } from 'node:path'
import type { NextConfig } from 'next'

const repositoryRoot = join(import.meta.dirname, '..', '..')

const config: NextConfig = {
  reactStrictMode: true,
  poweredByHeader: false,
  agentRules: false,
  // `HOLDFAST_STANDALONE=1 npm run build` makes a folder that runs without node_modules.
  ...(process.env['HOLDFAST_STANDALONE'] === '1' ? { output: 'standalone' } : {}),
  outputFileTracingRoot: repositoryRoot,
  turbopack: {
    root: repositoryRoot,
    // Local sandboxes are folders with names that only the running server knows.
    ignoreIssue: [{ path: '**/packages/testing/**', title: /Dynamic filesystem access/ }],
  },
  // Loaded by Node itself: they hold connections, WASM and native files. (Here the workspace's own packages are bundled
  // all the same, because they are links out of node_modules.)
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
    'just-bash',
    'postgres',
  ],
  // The typecheck target covers the app and its tests with the repository's own compiler.
  typescript: { ignoreBuildErrors: true },
}

export default config
