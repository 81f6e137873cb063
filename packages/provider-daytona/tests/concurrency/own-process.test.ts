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
  test('loads no other package, and of its own and of core only what it cannot do without', async () => {
    const { stdout } = await bundle.run(`
      import { Session } from 'node:inspector'
      const scripts = []
      const session = new Session()
      session.connect()
      session.on('Debugger.scriptParsed', ({ params }) => scripts.push(params.url))
      session.post('Debugger.enable')
      scripts.length = 0
      await import('provider')
      console.log(JSON.stringify(scripts.filter((url) => !url.startsWith('node:'))))`)
    const scripts = JSON.parse(stdout) as string[]
    expect(scripts.some((url) => url.endsWith('/index.js'))).toBe(true)
    expect(scripts.filter((url) => !url.includes('/.cache/bundle-'))).toEqual([])
    expect(bundle.eagerModules.length, bundle.eagerModules.join('\n')).toBeLessThan(36)
  })

  test('costs next to nothing beside what the SDK costs', { timeout: 60_000 }, async () => {
    const cost = async (name: string): Promise<number> => {
      // Processor time: what other processes of the machine do does not count.
      const { stdout } = await bundle.run(`
        const before = process.cpuUsage()
        await import(${name})
        const { user, system } = process.cpuUsage(before)
        console.log((user + system) / 1000)
        process.exit()`)
      return Number(stdout)
    }
    const own: number[] = []
    for (let round = 0; round < 3; round += 1) own.push(await cost("'provider'"))
    expect(Math.min(...own)).toBeLessThan((await cost("'@daytonaio/sdk'")) / 10)
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
