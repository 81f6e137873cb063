import { startDaytonaServer } from '@holdfast/testing/daytona'
import { startExample } from '../../tools/example-server.mjs'
import type { ExampleServer } from '../../tools/example-server.mjs'

/** Where the example's sandboxes live: processes of this machine, or a Daytona service. */
export type SandboxHostName = 'local' | 'daytona'

/** Of the tests that run on one of them; `--mode e2e-daytona` turns it. */
export const DEFAULT_HOST: SandboxHostName = process.env['HOLDFAST_E2E_HOST'] === 'daytona' ? 'daytona' : 'local'

/** For the few tests that every run of the suite makes on each. */
export const ALL_HOSTS: readonly SandboxHostName[] = DEFAULT_HOST === 'daytona' ? ['daytona'] : ['local', 'daytona']

export interface SandboxHost {
  /** For every server that is to use it. */
  env: Record<string, string>
  close: () => Promise<void>
}

interface SandboxHostOptions {
  /** How long it takes to make a sandbox. */
  createMs?: number
}

export async function startSandboxHost(
  name: SandboxHostName = DEFAULT_HOST,
  { createMs }: SandboxHostOptions = {},
): Promise<SandboxHost> {
  if (name === 'local') {
    const faults = [{ on: 'create', do: 'delay', delayMs: createMs, times: 9 }]
    return { env: createMs === undefined ? {} : { HOLDFAST_FAULTS: JSON.stringify(faults) }, close: async () => {} }
  }
  const service = await startDaytonaServer(createMs === undefined ? {} : { transitionMs: { creating: createMs } })
  return { env: { DAYTONA_API_URL: service.url, DAYTONA_API_KEY: service.apiKey }, close: () => service.close() }
}

/** Serves the example with a sandbox host of its own, which ends with the server. */
export async function startExampleOn(
  name: SandboxHostName = DEFAULT_HOST,
  options: SandboxHostOptions = {},
): Promise<ExampleServer> {
  const host = await startSandboxHost(name, options)
  try {
    const server = await startExample({ env: host.env })
    const dispose = async (): Promise<void> => {
      try {
        await server.dispose()
      } finally {
        await host.close()
      }
    }
    return { ...server, dispose }
  } catch (error) {
    await host.close()
    throw error
  }
}
