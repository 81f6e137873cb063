import { join } from 'node:path'
import { extraTool } from '../extra-tools.mjs'
import { cachedPackage } from './cached-package.mjs'

/** @typedef {'npm' | 'pnpm' | 'yarn' | 'bun'} ClientName */
/** @typedef {{ name: ClientName, command: string[], env: NodeJS.ProcessEnv, takesPeersAlong: boolean }} Client */

/** @type {ClientName[]} */
export const CLIENTS = ['npm', 'pnpm', 'yarn', 'bun']

/** Of these two everything is tried; of the others, that each package can be installed by itself. */
export const isMain = (/** @type {ClientName} */ name) => name === 'npm' || name === 'pnpm'

/** No install script may be needed: npm 12, pnpm and bun run none by default. */
const QUIET = ['--ignore-scripts', '--silent']

/**
 * How to add packages with a client. Rejects when the client cannot be had here.
 *
 * @param {ClientName} name
 * @param {string} folder for what is not kept after this run
 * @returns {Promise<Client>}
 */
export async function findClient(name, folder) {
  const command = await commandOf(name, folder)
  // Both trust what they have of a name and version, and here one version has many contents.
  const caches = { BUN_INSTALL_CACHE_DIR: join(folder, 'bun-cache'), YARN_CACHE_FOLDER: join(folder, 'yarn-cache') }
  return { name, command, env: caches, takesPeersAlong: name !== 'yarn' }
}

async function commandOf(/** @type {ClientName} */ name, /** @type {string} */ folder) {
  const { execPath, platform, arch } = process
  switch (name) {
    case 'npm':
      return ['npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', ...QUIET]
    case 'pnpm':
      return [execPath, extraTool('pnpm/bin/pnpm.cjs'), 'add', '--prefer-offline', ...QUIET]
    case 'yarn': {
      const yarn = await cachedPackage('yarn', '1.22.22')
      // Two that fill one cache at the same time find each other's half-written packages.
      const oneAtATime = ['--mutex', `file:${join(folder, 'yarn-mutex')}`]
      const add = ['add', '--prefer-offline', '--non-interactive', ...QUIET]
      return [execPath, join(yarn, 'bin', 'yarn.js'), ...add, ...oneAtATime]
    }
    case 'bun': {
      const bun = await cachedPackage(`@oven/bun-${platform}-${arch === 'arm64' ? 'aarch64' : arch}`, '1.4.5')
      return [join(bun, 'bin', 'bun'), 'add', ...QUIET]
    }
  }
}
