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
  turbopack: { root: repositoryRoot },
  // Loaded by Node itself, once per process: they hold connections, WASM files and running sandboxes.
  serverExternalPackages: [
    '@holdfast/core',
    '@holdfast/middleware',
    '@holdfast/provider-daytona',
    '@holdfast/store-drizzle',
    '@holdfast/testing',
    '@electric-sql/pglite',
    '@daytonaio/sdk',
    '@tanstack/ai',
    'postgres',
  ],
  // The typecheck target covers the app and its tests with the repository's own compiler.
  typescript: { ignoreBuildErrors: true },
}

export default config
