import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { extraTool } from '../extra-tools.mjs'

const START_TRIES = 100
const TRY_EVERY_MS = 200

/**
 * A registry that has our packages alone; everything else comes from the one that the machine uses.
 *
 * @param {string} folder
 * @returns {Promise<{ url: string, userconfig: string, stop: () => void }>}
 */
export async function startRegistry(folder) {
  mkdirSync(folder, { recursive: true })
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/`
  const config = join(folder, 'config.json')
  writeFileSync(config, JSON.stringify(verdaccioConfig(folder)))
  const userconfig = join(folder, 'npmrc')
  // Anybody may publish there, but npm wants a token all the same.
  writeFileSync(userconfig, `${url.replace('http:', '')}:_authToken=nobody\n`)

  const program = extraTool('verdaccio/bin/verdaccio')
  const server = spawn(process.execPath, [program, '--config', config, '--listen', `127.0.0.1:${port}`], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const stop = () => void server.kill()
  process.once('exit', stop)
  for (let tried = 0; !(await answers(url)); tried += 1) {
    if (tried === START_TRIES || server.exitCode !== null) throw new Error('The local registry did not start.')
    await pause(TRY_EVERY_MS)
  }
  return { url, userconfig, stop }
}

function verdaccioConfig(/** @type {string} */ folder) {
  return {
    storage: join(folder, 'storage'),
    auth: { htpasswd: { file: join(folder, 'htpasswd'), max_users: -1 } },
    uplinks: {},
    packages: { '@holdfast/*': { access: '$all', publish: '$all' } },
    log: { type: 'stdout', level: 'error' },
    web: { enable: false },
    max_body_size: '20mb',
  }
}

async function answers(/** @type {string} */ url) {
  try {
    return (await fetch(`${url}-/ping`)).ok
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}

/** @returns {Promise<number>} */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
