import { startDaytonaServer } from '@holdfast/testing/daytona'
import type { DaytonaServer, DaytonaServerOptions } from '@holdfast/testing/daytona'
import type { SandboxProvider } from '@holdfast/core'
import { afterEach } from 'vitest'
import { daytonaProvider } from '../src/index.ts'
import type { DaytonaOptions } from '../src/index.ts'

export interface DaytonaFixture {
  server: DaytonaServer
  provider: SandboxProvider
  /** Another provider on the same server, as another host has it. */
  connect: (options?: DaytonaOptions) => SandboxProvider
}

const open: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

/** A server of its own with a provider for it; both are closed after the test. */
export async function startDaytona(
  serverOptions: DaytonaServerOptions = {},
  options: DaytonaOptions = {},
): Promise<DaytonaFixture> {
  const server = await startDaytonaServer(serverOptions)
  open.push(() => server.close())
  const connect = (more: DaytonaOptions = {}): SandboxProvider => {
    const provider = daytonaProvider({ apiUrl: server.url, apiKey: server.apiKey, target: 'us', ...options, ...more })
    open.push(async () => provider.close?.())
    return provider
  }
  return { server, provider: connect(), connect }
}
