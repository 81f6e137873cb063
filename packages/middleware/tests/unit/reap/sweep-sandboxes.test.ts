import { memoryProvider } from '@holdfast/testing'
import { describe, expect, it } from 'vitest'
import { sandboxLabels } from '../../../src/definition/sandbox-labels.ts'
import { sweepSandboxes } from '../../../src/reap/sweep-sandboxes.ts'
import { never, reapFixture, startHost } from '../../fixtures/reap-fixture.ts'
import type { ReapFixture } from '../../fixtures/reap-fixture.ts'

const MIN_AGE_MS = 60 * 60_000

const sweep = (fixture: ReapFixture, options: Partial<Parameters<typeof sweepSandboxes>[0]> = {}) =>
  sweepSandboxes({ ...fixture, minAgeMs: MIN_AGE_MS, ...options })

/** A sandbox that the service has and the store does not know. */
async function leak(fixture: ReapFixture, key = 'leaked', appId = 'test'): Promise<void> {
  await fixture.provider.create({ id: key, labels: sandboxLabels({ key, threadId: 'gone', appId }) })
}

/** A run with a sandbox of its own, so that the store is known to be the right one. */
async function used(fixture: ReapFixture): Promise<string> {
  await startHost(fixture, [[{ wait: never }]])
  const [sandboxId = ''] = await fixture.sandboxIds()
  return sandboxId
}

describe('sweepSandboxes', () => {
  it('refuses a provider that cannot list, and a malformed age', async () => {
    const fixture = reapFixture()
    const { list: _list, ...provider } = fixture.provider
    await expect(sweepSandboxes({ ...fixture, sandbox: undefined as never, provider, minAgeMs: 1 })).rejects.toThrow(
      TypeError,
    )
    await expect(sweep(fixture, { minAgeMs: Number.NaN })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  it('destroys a sandbox that nothing points at, once it is old enough, and no other', async () => {
    const fixture = reapFixture()
    const mine = await used(fixture)
    await leak(fixture)
    await leak(fixture, 'of-another-app', 'other')
    await fixture.clock.advance(MIN_AGE_MS - 1)
    expect(await sweep(fixture)).toMatchObject({
      listed: 2,
      recorded: 1,
      outcomes: [{ sandboxId: 'leaked', reason: 'no-record', outcome: 'kept', because: 'too-young' }],
    })
    await fixture.clock.advance(1)
    expect(await sweep(fixture)).toMatchObject({ outcomes: [{ sandboxId: 'leaked', outcome: 'destroyed' }] })
    expect((await fixture.sandboxIds()).toSorted()).toEqual([mine, 'of-another-app'].toSorted())
  })

  it('changes nothing in a dry run', async () => {
    const fixture = reapFixture()
    await used(fixture)
    await leak(fixture)
    await fixture.clock.advance(MIN_AGE_MS)
    const { outcomes } = await sweep(fixture, { dryRun: true })
    expect(outcomes).toMatchObject([{ sandboxId: 'leaked', outcome: 'kept', because: 'dry-run' }])
    expect(fixture.faults.calls('destroy')).toBe(0)
  })

  it('takes a store without any row for the wrong one, unless it is told otherwise', async () => {
    const fixture = reapFixture()
    await leak(fixture)
    await fixture.clock.advance(MIN_AGE_MS)
    expect(await sweep(fixture)).toMatchObject({ outcomes: [{ outcome: 'kept', because: 'store-empty' }] })
    expect(await sweep(fixture, { trustEmptyStore: true })).toMatchObject({ outcomes: [{ outcome: 'destroyed' }] })
  })

  it('never touches a sandbox whose row it cannot read', async () => {
    const fixture = reapFixture()
    await used(fixture)
    await leak(fixture)
    await fixture.clock.advance(MIN_AGE_MS)
    const { instances } = fixture.stores
    const get = async (): Promise<never> => Promise.reject(new Error('connection lost'))
    const broken = new Proxy(instances, {
      get: (target, name) => (name === 'get' ? get : (Reflect.get(target, name) as () => void).bind(target)),
    })
    const report = await sweep({ ...fixture, stores: { ...fixture.stores, instances: broken } })
    expect(report.outcomes).toEqual([])
    expect(report.errors).toMatchObject([{ message: 'connection lost' }, { message: 'connection lost' }])
    expect(fixture.faults.calls('destroy')).toBe(0)
  })

  it('reports a service that cannot list, and one that cannot destroy, and tries again next time', async () => {
    const fixture = reapFixture()
    await used(fixture)
    await leak(fixture)
    await fixture.clock.advance(MIN_AGE_MS)
    fixture.faults.add({ on: 'list', nth: 1, do: 'fail' }, { on: 'destroy', nth: 1, do: 'fail' })
    expect(await sweep(fixture)).toMatchObject({ listed: 0, outcomes: [], errors: [{ message: expect.any(String) }] })
    expect(await sweep(fixture)).toMatchObject({ outcomes: [{ outcome: 'failed', error: {} }] })
    expect(await sweep(fixture)).toMatchObject({ outcomes: [{ outcome: 'destroyed' }] })
  })

  it('counts the age from the first sight where the service does not say it', async () => {
    const fixture = reapFixture()
    await used(fixture)
    await leak(fixture)
    const { provider } = fixture
    const list: typeof provider.list = async (input) =>
      ((await provider.list?.(input)) ?? []).map(({ createdAt: _unknown, ...listing }) => listing)
    const silent = { ...fixture, sandbox: { ...fixture.sandbox, provider: { ...provider, list } } }
    await fixture.clock.advance(10 * MIN_AGE_MS)
    expect(await sweep(silent)).toMatchObject({ outcomes: [{ because: 'seen-first' }] })
    await fixture.clock.advance(MIN_AGE_MS - 1)
    expect(await sweep(silent)).toMatchObject({ outcomes: [{ because: 'too-young' }] })
    await fixture.clock.advance(1)
    expect(await sweep(silent)).toMatchObject({ outcomes: [{ outcome: 'destroyed' }] })
  })

  it('destroys the sandbox whose key has another one by now', async () => {
    const fixture = reapFixture()
    const mine = await used(fixture)
    const [row] = (await fixture.stores.instances.list?.({}))?.records ?? []
    if (row === undefined) throw new Error('There is no row.')
    await fixture.stores.instances.upsert({ ...row, providerSandboxId: 'another' })
    await fixture.clock.advance(MIN_AGE_MS)
    const { outcomes } = await sweep(fixture)
    expect(outcomes).toContainEqual({ sandboxId: mine, key: row.key, reason: 'replaced', outcome: 'destroyed' })
  })

  it('forgets a row whose sandbox is gone, after two looks far enough apart, unless a run is there', async () => {
    const fixture = reapFixture()
    const { session } = await startHost(fixture, [[{ say: 'done' }]])
    await session.ended
    const [sandboxId = ''] = await fixture.sandboxIds()
    await leak(fixture)
    await fixture.provider.destroy({ id: sandboxId })
    await fixture.clock.advance(MIN_AGE_MS)
    const missing = async () => (await sweep(fixture)).outcomes.filter(({ reason }) => reason === 'missing')
    expect(await missing()).toMatchObject([{ outcome: 'kept', because: 'seen-first' }])
    expect(await missing()).toMatchObject([{ outcome: 'kept', because: 'too-young' }])
    await fixture.clock.advance(MIN_AGE_MS)
    expect(await missing()).toMatchObject([{ sandboxId, outcome: 'forgotten' }])
    expect(await fixture.stores.instances.list?.({})).toEqual({ records: [] })
  })

  it('keeps a row whose sandbox is listed again', async () => {
    const fixture = reapFixture()
    const { session } = await startHost(fixture, [[{ say: 'done' }]])
    await session.ended
    await fixture.clock.advance(MIN_AGE_MS)
    const hidden = memoryProvider({ clock: fixture.clock })
    await sweep({ ...fixture, sandbox: { ...fixture.sandbox, provider: hidden } })
    expect(JSON.stringify(await fixture.stores.instances.list?.({}))).toContain('missing-since')
    await sweep(fixture)
    expect(JSON.stringify(await fixture.stores.instances.list?.({}))).not.toContain('missing-since')
    await fixture.clock.advance(MIN_AGE_MS)
    expect(await sweep(fixture)).toEqual({ listed: 1, recorded: 1, outcomes: [], errors: [] })
  })

  it('destroys what its definition keeps for no longer than a run, when the run is over', async () => {
    const fixture = reapFixture({ lifecycle: { destroyOnComplete: true } })
    const { session } = await startHost(fixture, [[{ wait: never }]])
    await fixture.clock.advance(MIN_AGE_MS)
    expect((await sweep(fixture)).outcomes).toEqual([])
    if (session.fence === undefined) throw new Error('The run has no fence.')
    await fixture.stores.drivers.finish({ ...session.fence, status: 'completed' })
    expect((await sweep(fixture)).outcomes).toMatchObject([{ reason: 'run-ended', outcome: 'destroyed' }])
    expect(await fixture.sandboxIds()).toEqual([])
    expect(await fixture.stores.instances.list?.({})).toEqual({ records: [] })
  })

  it('leaves a sandbox alone while somebody builds under its key', async () => {
    const fixture = reapFixture()
    await used(fixture)
    await leak(fixture)
    await fixture.clock.advance(MIN_AGE_MS)
    let letGo = (): void => undefined
    const held = fixture.stores.locks.withLock(
      'sandbox:leaked',
      () =>
        new Promise<void>((resolve) => {
          letGo = resolve
        }),
    )
    const pending = sweep(fixture)
    await fixture.clock.advance(1_000)
    expect((await pending).outcomes).toMatchObject([{ outcome: 'kept', because: 'in-use' }])
    letGo()
    await held
    expect(fixture.faults.calls('destroy')).toBe(0)
  })
})
