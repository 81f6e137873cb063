import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import { root } from '../folders.mjs'

/**
 * What `npm run daytona-server` starts.
 *
 * @returns {Promise<{ env: NodeJS.ProcessEnv, stop: () => Promise<void> }>} `env` leads the SDK to it
 */
export async function startDaytonaDouble() {
  const child = spawn(process.execPath, [join(root, 'tools', 'daytona-server.mjs'), '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  /** @type {NodeJS.ProcessEnv} */
  const env = {}
  for await (const line of createInterface({ input: child.stdout })) {
    const [name = '', value = ''] = line.split('=', 2)
    if (name.startsWith('DAYTONA_')) env[name] = value
    if (env['DAYTONA_API_URL'] && env['DAYTONA_API_KEY']) break
  }
  if (!env['DAYTONA_API_KEY']) throw new Error('npm run daytona-server did not say where it listens.')
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  return { env, stop }
}
