import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { startDaytonaServer } from '@holdfast/testing/daytona'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundlePackage } from '../package-bundle.ts'
import type { PackageBundle } from '../package-bundle.ts'

let bundle: PackageBundle
beforeAll(async () => {
  bundle = await bundlePackage()
}, 60_000)
afterAll(() => bundle.remove())

describe('importing the package', () => {
  const measure = `
    import { createRequire } from 'node:module'
    const before = process.cpuUsage()
    await import('provider')
    // Processor time: what other processes of the machine do does not count.
    const { user, system } = process.cpuUsage(before)
    const ms = (user + system) / 1000
    const loaded = Object.keys(createRequire(import.meta.url)('node:module')._cache)
    console.log(JSON.stringify({ ms, cjs: loaded.length }))`

  test('costs less than 50 ms and does not load the SDK', { timeout: 60_000 }, async () => {
    const costs: number[] = []
    for (let round = 0; round < 5; round += 1) {
      const { stdout } = await bundle.run(measure)
      const { ms, cjs } = JSON.parse(stdout) as { ms: number; cjs: number }
      costs.push(ms)
      // The SDK brings dozens of CommonJS modules; without it there is none.
      expect(cjs).toBeLessThan(3)
    }
    expect(Math.min(...costs)).toBeLessThan(50)
  })
})

describe('a process that used the package', () => {
  const script = (work: string): string => `
    import { daytonaProvider } from 'provider'
    const provider = daytonaProvider({
      apiUrl: process.env.URL_UNDER_TEST, apiKey: process.env.KEY_UNDER_TEST, target: 'us', livenessTimeoutMs: 1500,
    })
    ${work}
    await provider.close()
    const closedAt = performance.now()
    process.on('exit', () => console.log('closed ' + Math.round(performance.now() - closedAt)))`

  async function exitOf(work: string, env: Record<string, string>): Promise<number> {
    const { stdout, exitCode } = await bundle.run(script(work), { KEY_UNDER_TEST: 'key', ...env })
    expect(exitCode).toBe(0)
    return Number(/closed (\d+)/.exec(stdout)?.[1])
  }

  test('exits by itself after close', { timeout: 60_000 }, async () => {
    const server = await startDaytonaServer()
    const work = `
      const sandbox = await provider.create({})
      await sandbox.process.exec('echo x', { onStdout: () => undefined })
      await sandbox.terminal.open()
      await sandbox.process.spawn('sleep 600')`
    const env = { URL_UNDER_TEST: server.url, KEY_UNDER_TEST: server.apiKey }
    expect(await exitOf(work, env)).toBeLessThan(5_000)
    await server.close()
  })

  test('exits by itself when the service cannot be reached', { timeout: 60_000 }, async () => {
    const work = `await provider.resume({ id: 'x' }).then(() => process.exit(9), () => undefined)`
    expect(await exitOf(work, { URL_UNDER_TEST: 'http://127.0.0.1:9/api' })).toBeLessThan(5_000)
  })

  test('exits by itself when the service accepts and never answers', { timeout: 60_000 }, async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const work = `await provider.resume({ id: 'x' }).then(() => process.exit(9), () => undefined)`
    const { port } = silent.address() as AddressInfo
    expect(await exitOf(work, { URL_UNDER_TEST: `http://127.0.0.1:${port}/api` })).toBeLessThan(5_000)
    silent.close()
  })
})
