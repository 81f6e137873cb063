import { join } from 'node:path'
import { runCommand } from 'citty'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { operatorCommand } from '../../../src/operator/operator-command.ts'
import { DRIVER_LEASE_MS } from '../../../src/runs/heartbeat.ts'
import { deadHost, driverFor, never, reapFixture, startHost } from '../../fixtures/reap-fixture.ts'
import type { ReapFixture } from '../../fixtures/reap-fixture.ts'

const CONFIG = join(import.meta.dirname, '../../fixtures/operator.config.mjs')
const KEY = Symbol.for('holdfast-operator-test')

interface CommandResult {
  out: string
  lines: Record<string, unknown>[]
  closed: number
}

/** Runs the command on the fixture's stores, and says what it printed. */
async function holdfast(fixture: Partial<ReapFixture>, args: string[], more: object = {}): Promise<CommandResult> {
  let closed = 0
  const stores = fixture.stores && {
    ...fixture.stores,
    close: async () => {
      closed += 1
    },
  }
  Reflect.set(globalThis, KEY, { ...fixture, stores, ...more })
  let out = ''
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += String(text)
    return true
  })
  const quiet = vi.spyOn(process.stderr, 'write').mockImplementation(() => true)
  try {
    await runCommand(operatorCommand, { rawArgs: [...args, '--config', CONFIG] })
  } finally {
    write.mockRestore()
    quiet.mockRestore()
  }
  const json = args.includes('--json') ? out.trim().split('\n').filter(Boolean) : []
  return { out, closed, lines: json.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

afterEach(() => {
  Reflect.deleteProperty(globalThis, KEY)
  process.exitCode = 0
})

describe('holdfast', () => {
  it('says how to name a configuration that it does not find, or that has no stores', async () => {
    const command = (args: string[]) => runCommand(operatorCommand, { rawArgs: args })
    await expect(command(['runs', 'list', '--config', '/nowhere.mjs'])).rejects.toMatchObject({
      code: 'INVALID_CONFIGURATION',
    })
    await expect(holdfast({}, ['runs', 'list'])).rejects.toMatchObject({ code: 'INVALID_CONFIGURATION' })
  })

  it('lists runs as a table and as JSON, and closes the stores', async () => {
    const fixture = reapFixture()
    await startHost(fixture, [[{ say: 'x' }, { wait: never }]])
    await fixture.stores.drivers.claim({ runId: 'lost', threadId: 'thread-2', owner: 'dead:1', ttlMs: 0 })
    const table = await holdfast(fixture, ['runs', 'list'])
    expect(table.out).toMatch(/^RUN +THREAD +STATUS/)
    expect(table.out).toMatch(/^lost +thread-2 +running, host lost .* dead:1/m)
    expect(table.closed).toBe(1)
    const { lines } = await holdfast(fixture, ['runs', 'list', '--json', '--thread', 'thread-1'])
    expect(lines).toMatchObject([{ runId: 'run-1', isOrphaned: false, driver: { isLive: true }, sandboxes: [{}] }])
    expect((await holdfast(fixture, ['runs', 'list', '--json', '--status', 'completed'])).lines).toEqual([])
    await expect(holdfast(fixture, ['runs', 'list', '--status', 'odd'])).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
    await expect(holdfast(fixture, ['runs', 'list', '--limit', 'x'])).rejects.toThrow(TypeError)
  })

  it('shows one run with its log, and fails for an unknown one', async () => {
    const fixture = reapFixture()
    const { session } = await startHost(fixture, [[{ say: 'x' }]])
    await session.ended
    const { lines } = await holdfast(fixture, ['runs', 'show', 'run-1', '--json'])
    expect(lines).toMatchObject([{ runId: 'run-1', status: 'completed', log: { isClosed: true } }])
    await expect(holdfast(fixture, ['runs', 'show', 'run-9'])).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  })

  it('prints the events of a run, and nothing that could control the terminal', async () => {
    const fixture = reapFixture()
    const { session } = await startHost(fixture, [[{ say: 'red\u001b[31m\nalert' }]])
    await session.ended
    const { out } = await holdfast(fixture, ['runs', 'attach', 'run-1'])
    expect(out).toContain('red·[31m\nalert')
    expect(out).not.toContain('\u001b')
    const { lines } = await holdfast(fixture, ['runs', 'attach', 'run-1', '--json'])
    expect(lines.at(-1)).toMatchObject({ offset: expect.any(String), chunk: { type: 'RUN_FINISHED' } })
  })

  it('cancels a run whose host is dead, and its sandbox with it', async () => {
    const fixture = reapFixture()
    await deadHost(fixture)
    const { lines } = await holdfast(fixture, ['runs', 'cancel', 'run-1', '--json'])
    expect(lines).toMatchObject([{ runId: 'run-1', status: 'aborted', sandboxes: [] }])
    expect(await fixture.sandboxIds()).toEqual([])
  })

  it('reaps, drives what it took over to the end, and fails when something failed', async () => {
    const fixture = reapFixture()
    await deadHost(fixture)
    const driver = driverFor(fixture, [[{ say: 'whole' }]])
    const { lines } = await holdfast(fixture, ['reap', '--json'], { driver })
    expect(lines).toMatchObject([{ kind: 'run', id: 'run-1', outcome: 'taken-over' }])
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
    expect(process.exitCode).toBe(0)
    const broken = reapFixture()
    await deadHost(broken, undefined, { runId: 'run-2' })
    broken.faults.add({ on: 'destroy', nth: 1, do: 'fail' })
    await broken.stores.drivers.requestCancel({ runId: 'run-2' })
    const failed = await holdfast(broken, ['reap', '--detached-longer-than', '1h'])
    expect(failed.out).toMatch(/^sandbox .* failed/m)
    expect(process.exitCode).toBe(1)
  })

  it('sweeps in a dry run without touching anything, and for real', async () => {
    const fixture = reapFixture()
    await startHost(fixture, [[{ wait: never }]])
    const labels = { holdfast: '1', 'holdfast.key': 'leaked', 'holdfast.app': 'test', 'holdfast.thread': 'gone' }
    await fixture.provider.create({ id: 'leaked', labels })
    await fixture.clock.advance(DRIVER_LEASE_MS)
    const dry = await holdfast(fixture, ['sweep', '--dry-run', '--older-than', '1s', '--json'])
    expect(dry.lines).toMatchObject([{ sandboxId: 'leaked', outcome: 'kept', because: 'dry-run' }])
    expect(await fixture.sandboxIds()).toContain('leaked')
    const real = await holdfast(fixture, ['sweep', '--older-than', '1s'])
    expect(real.out).toMatch(/^leaked +no-record +destroyed/m)
    expect(await fixture.sandboxIds()).not.toContain('leaked')
    await expect(holdfast({ stores: fixture.stores }, ['sweep'])).rejects.toMatchObject({
      code: 'INVALID_CONFIGURATION',
    })
  })
})
