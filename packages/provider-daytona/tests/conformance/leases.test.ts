import { mkdtemp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDaytonaServer } from '@holdfast/testing/daytona'
import type { DaytonaServer, DaytonaServerOptions } from '@holdfast/testing/daytona'
import { afterEach, describe, expect, test } from 'vitest'
import { createDaytonaLeases } from '../../src/index.ts'
import type { DaytonaLeases, DaytonaOptions } from '../../src/index.ts'

const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

async function start(serverOptions: DaytonaServerOptions = {}, options: DaytonaOptions = {}) {
  const server = await startDaytonaServer(serverOptions)
  open.push(() => server.close())
  const connect = (more: DaytonaOptions = {}): DaytonaLeases => {
    const leases = createDaytonaLeases({ apiUrl: server.url, apiKey: server.apiKey, target: 'us', ...options, ...more })
    open.push(() => leases.close())
    return leases
  }
  return { server, leases: connect(), connect }
}

async function stateOf(server: DaytonaServer): Promise<string | undefined> {
  for (const { sandboxId } of server.sandboxes()) await server.settled(sandboxId)
  return server.sandboxes()[0]?.state
}

const OWNER = { key: 'lease', ownerIds: ['company', 'run'] }

describe('a lease', () => {
  test('is resumed by its owner, from any host', async () => {
    const { leases, connect } = await start()
    const lease = await leases.acquire(OWNER)
    const resumed = await connect().resume({ ...OWNER, sandboxId: lease.sandboxId })
    expect(resumed.kind).toBe('resumed')
  })

  test.each([
    ['another owner', { ...OWNER, ownerIds: ['company', 'other'] }, {}],
    ['another adapter', { ...OWNER, adapterName: 'other' }, {}],
    ['other options', OWNER, { snapshot: 'other' }],
  ])('is expired for %s and handed to nobody', async (_title, owner, options) => {
    const { leases, connect } = await start()
    const { sandboxId } = await leases.acquire(OWNER)
    expect(await connect(options).resume({ ...owner, sandboxId })).toEqual({ kind: 'expired', reason: 'mismatch' })
    expect(
      await leases.resume({ ...owner, ...(Object.keys(options).length > 0 ? { adapterName: 'x' } : {}), sandboxId }),
    ).toEqual({
      kind: 'expired',
      reason: 'mismatch',
    })
  })

  test('is expired when the sandbox does not carry its mark any more', async () => {
    const { leases, connect } = await start()
    const lease = await leases.acquire(OWNER)
    const exec = lease.handle.exec
    await exec('echo forged >../.holdfast/sentinel', { cwd: lease.workspaceRoot, env: {}, stdin: new Uint8Array() })
    const { sandboxId } = lease
    expect(await connect().resume({ ...OWNER, sandboxId })).toEqual({ kind: 'expired', reason: 'mismatch' })
  })

  test('is expired when the sandbox is gone, and kept when nobody knows', { timeout: 30_000 }, async () => {
    const { server, leases, connect } = await start()
    const { sandboxId } = await leases.acquire(OWNER)
    const undo = server.setFault({ on: 'GET /sandbox/:sandbox', effect: { kind: 'status', status: 503 }, times: 99 })
    await expect(connect().resume({ ...OWNER, sandboxId })).rejects.toMatchObject({ retryable: true })
    undo()
    await leases.destroy(sandboxId)
    expect(await connect().resume({ ...OWNER, sandboxId })).toEqual({ kind: 'expired', reason: 'gone' })
  })

  test.each([
    ['keep', 'started'],
    ['stop', 'stopped'],
    ['archive', 'archived'],
    ['destroy', undefined],
  ] as const)('released by "%s" leaves the sandbox %s', async (afterRelease, state) => {
    const { server, leases } = await start({}, { afterRelease })
    const lease = await leases.acquire(OWNER)
    await lease.release()
    await lease.release()
    expect(await stateOf(server)).toBe(state)
    await lease.destroy()
    await lease.destroy()
    expect(await stateOf(server)).toBeUndefined()
    await lease.release()
  })

  test('that cannot be stopped is removed', { timeout: 30_000 }, async () => {
    const { server, leases } = await start({}, { timeoutMs: 1_500 })
    const lease = await leases.acquire(OWNER)
    const effect = { kind: 'status', status: 403, body: { message: 'no' } } as const
    server.setFault({ on: 'POST /sandbox/:sandbox/stop', effect, times: 99 })
    await lease.release('stop')
    expect(await stateOf(server)).toBeUndefined()
  })

  test('tells a deadline only when the service does', async () => {
    const expiresAt = Date.now() + 600_000
    const { leases } = await start({}, { expiresAt })
    const told = (await leases.acquire(OWNER)).expiresAt
    if (told !== undefined) expect(told).toBeLessThanOrEqual(expiresAt + 5_000)
    const { leases: plain } = await start()
    expect((await plain.acquire(OWNER)).expiresAt).toBeUndefined()
  })
})

describe('what a lease holds', () => {
  test('a duplex channel carries raw bytes both ways, for its own pair only', async () => {
    const { leases } = await start()
    const lease = await leases.acquire(OWNER)
    const pair = { hostId: 'h', workerId: 'w' }
    const channel = await lease.openChannel({ ...pair, command: 'head -c 256' })
    const bytes = new Uint8Array(256).map((_, index) => index)
    await expect(channel.write({ hostId: 'h', workerId: 'other' }, bytes)).rejects.toMatchObject({ code: 'INVALID_ID' })
    await expect(channel.write(pair, 'text' as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await channel.write(pair, bytes)
    const got: number[] = []
    for await (const piece of channel.output) got.push(...piece)
    expect(got).toEqual([...bytes])
    expect(await channel.ended).toEqual({ kind: 'exited', exitCode: 0 })
    await channel.close()
  })

  test('a channel tells a lost connection from an exit, and ends with its lease', async () => {
    const { server, leases } = await start()
    const lease = await leases.acquire(OWNER)
    const lost = await lease.openChannel({ hostId: 'h', workerId: '1', command: 'sleep 600' })
    server.configure({ ptyExit: 'cut' })
    await server.killSandbox(lease.sandboxId)
    expect(await lost.ended).toEqual({ kind: 'transport-lost' })
  })

  test('ingress is a wss-style address without credentials whose generation changes with a restart only', async () => {
    const { leases, connect } = await start()
    const lease = await leases.acquire(OWNER)
    const first = await lease.openIngress({ port: 3_000, path: '/socket' })
    expect(first.url).toMatch(/^wss?:\/\/[^@?]+\/socket$/)
    expect(first.url).not.toContain(Object.values(first.headers)[0])
    expect((await lease.openIngress({ port: 3_000, path: '/socket' })).generation).toBe(first.generation)
    await expect(lease.openIngress({ port: 3_000, path: '/a?b' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await lease.release('stop')
    const resumed = await connect().resume({ ...OWNER, sandboxId: lease.sandboxId })
    if (resumed.kind !== 'resumed') throw new Error('not resumed')
    expect((await resumed.lease.openIngress({ port: 3_000, path: '/socket' })).generation).not.toBe(first.generation)
  })

  test('a login terminal keeps a home directory of its own', async () => {
    const { leases } = await start()
    const lease = await leases.acquire(OWNER)
    const login = async (command: string): Promise<string> => {
      const terminal = await lease.login({ commandKey: 'tool', command })
      let screen = ''
      for await (const piece of terminal.output) screen += Buffer.from(piece).toString()
      return screen
    }
    await login('echo token >"$HOME/credentials"')
    expect(await login('cat "$HOME/credentials"')).toContain('token')
    expect(await lease.handle.fs.list(lease.workspaceRoot)).toEqual([])
  })

  test('directories are copied in and out, confined to the workspace', async () => {
    const { leases } = await start()
    const lease = await leases.acquire(OWNER)
    const dir = await mkdtemp(join(tmpdir(), 'hf-sync-'))
    open.push(() => rm(dir, { recursive: true, force: true }))
    await mkdir(join(dir, 'in', 'sub'), { recursive: true })
    await writeFile(join(dir, 'in', 'sub', 'run.sh'), '#!/bin/sh\necho hi\n', { mode: 0o755 })
    await symlink('sub/run.sh', join(dir, 'in', 'link'))
    await lease.files.copyIn({ from: join(dir, 'in'), to: 'target' })
    const ran = await lease.handle.exec('./link', {
      cwd: `${lease.workspaceRoot}/target`,
      env: {},
      stdin: new Uint8Array(),
    })
    expect(ran.stdout).toBe('hi\n')
    await lease.files.copyOut({ from: 'target', to: join(dir, 'out') })
    expect(await readFile(join(dir, 'out', 'target', 'sub', 'run.sh'), 'utf8')).toContain('echo hi')
    await expect(lease.files.copyIn({ from: join(dir, 'in'), to: '../x' })).rejects.toMatchObject({
      code: 'INVALID_PATH',
    })
  })
})

describe('an interactive setup', () => {
  test('gives access, becomes a template, and leaves no sandbox', { timeout: 30_000 }, async () => {
    const { server, leases } = await start()
    const setup = await leases.setups.start({ expiresInMs: 120_000 })
    expect(setup.access.command).toMatch(/^ssh /)
    const secret = /ssh (?:-p \d+ )?([^@\s]+)@/.exec(setup.access.command)?.[1] ?? ''
    expect(secret).not.toBe('')
    expect(setup.access.summary).not.toContain(secret)
    const template = await leases.setups.capture(setup.sandboxId, ' My Template! ')
    expect(template).toBe('my-template')
    expect(server.snapshots().map(({ name }) => name)).toContain(template)
    const second = await leases.setups.start({ template })
    await leases.setups.cancel(second.sandboxId)
    await leases.setups.cancel(second.sandboxId)
    await leases.setups.deleteTemplate(template)
    await leases.setups.deleteTemplate(template)
    expect(await stateOf(server)).toBeUndefined()
    await expect(leases.setups.start({ template })).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' })
  })

  test('a snapshot that the service loses silently is not reported as made', { timeout: 40_000 }, async () => {
    const { server, leases } = await start({ snapshotsFailSilently: true }, { timeoutMs: 3_000 })
    const lease = await leases.acquire(OWNER)
    await expect(leases.setups.capture(lease.sandboxId, 'x')).rejects.toMatchObject({ code: 'PROVIDER_FAILED' })
    expect(server.sandboxes()).toHaveLength(1)
  })
})
