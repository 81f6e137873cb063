import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { required } from '../stores/required.ts'
import { rejectsWith } from '../stores/rejects-with.ts'
import { eventually } from './eventually.ts'
import { outputOf } from './command-output.ts'
import { providerCase, sandboxCase } from './provider-case.ts'
import type { ProviderCase } from './provider-case.ts'

/** A provider's own labels must not meet those of the middleware, which begin with `holdfast` too. */
const LABELS = { app: 'conformance', owner: 'us', 'holdfast.key': 'a', 'holdfast.thread': 'b', holdfast: '1' }

/** Unique, because a service may be shared by several runs of the suite. */
function freshId(): string {
  return `conformance-${randomUUID()}`
}

const createCases: readonly ProviderCase[] = [
  sandboxCase(
    'create.is-ready',
    'create resolves when commands can run',
    async (sandbox) => {
      assert.equal(await outputOf(sandbox, 'echo ready'), 'ready\n')
    },
    ['exec'],
  ),
  sandboxCase(
    'create.workspace-root',
    'commands start in the workspace root',
    async (sandbox) => {
      await sandbox.fs.write('here', 'x')
      assert.equal(await outputOf(sandbox, 'ls'), 'here\n')
      if (sandbox.workspaceRoot !== undefined)
        assert.equal(await outputOf(sandbox, 'pwd'), `${sandbox.workspaceRoot}\n`)
    },
    ['fs', 'exec'],
  ),
  providerCase('create.without-id', 'create without an id makes a new sandbox each time', async ({ create }) => {
    const [first, second] = [await create(), await create()]
    assert.notEqual(first.id, second.id)
  }),
  providerCase(
    'create.sandboxes-are-apart',
    'sandboxes do not share files',
    async ({ create }) => {
      const [first, second] = [await create(), await create()]
      await first.fs.write('mine', 'x')
      assert.equal(await second.fs.exists('mine'), false)
    },
    ['fs'],
  ),
  providerCase(
    'create.adopts',
    'create with an existing id and equal labels adopts the sandbox',
    async ({ create }) => {
      const id = freshId()
      const made = await create({ id, labels: LABELS })
      await made.fs.write('kept', 'x')
      const adopted = await create({ id, labels: Object.fromEntries(Object.entries(LABELS).toReversed()) })
      assert.equal(adopted.id, made.id)
      assert.equal(await adopted.fs.read('kept'), 'x')
    },
    ['fs'],
  ),
  providerCase(
    'create.refuses-foreign',
    'create with an existing id and other labels is refused',
    async ({ create }) => {
      const id = freshId()
      const made = await create({ id, labels: LABELS })
      await made.fs.write('kept', 'x')
      for (const labels of [
        { ...LABELS, owner: 'them' },
        { app: 'conformance' },
        { ...LABELS, 'holdfast.key': 'other' },
        { ...LABELS, more: 'x' },
        undefined,
      ]) {
        await rejectsWith('SANDBOX_FOREIGN', () => create({ id, ...(labels === undefined ? {} : { labels }) }))
      }
      assert.equal(await made.fs.read('kept'), 'x')
    },
    ['fs'],
  ),
  providerCase(
    'create.simultaneous',
    'simultaneous creates with one id give one sandbox',
    async ({ create }) => {
      const id = freshId()
      const handles = await Promise.all([1, 2, 3].map(() => create({ id, labels: LABELS })))
      await required(handles[0], 'first handle').fs.write('shared', 'x')
      for (const handle of handles) assert.equal(await handle.fs.read('shared'), 'x')
    },
    ['fs'],
  ),
  providerCase(
    'create.env',
    'variables of create are set for every command',
    async ({ create }) => {
      const sandbox = await create({ env: { GIVEN: 'at create' } })
      assert.equal(await outputOf(sandbox, 'printf %s "$GIVEN"'), 'at create')
    },
    ['exec', 'env'],
  ),
  providerCase('create.bad-id', 'a malformed id is refused before anything is made', async ({ create }) => {
    for (const id of ['', 'a\0b', 'new\nline', 'x'.repeat(257)]) await rejectsWith('INVALID_ID', () => create({ id }))
  }),
  providerCase(
    'create.bad-env',
    'a malformed variable name is refused',
    async ({ create }) => {
      await rejectsWith('INVALID_ENV_NAME', () => create({ env: { 'A;B': 'x' } }))
    },
    ['env'],
  ),
  providerCase(
    'create.aborted',
    'create with an aborted signal rejects with its reason and leaves nothing',
    async ({ provider }) => {
      const id = freshId()
      const reason = new Error('no longer wanted')
      await assert.rejects(provider.create({ id, signal: AbortSignal.abort(reason) }), (error) => error === reason)
      assert.equal(await provider.resume({ id }), null)
    },
  ),
]

const resumeCases: readonly ProviderCase[] = [
  sandboxCase(
    'resume.finds',
    'resume gives a usable handle on the same files',
    async (sandbox, { provider }) => {
      await sandbox.fs.write('kept', 'x')
      const resumed = required(await provider.resume({ id: sandbox.id }), 'the resumed handle')
      assert.equal(resumed.id, sandbox.id)
      assert.equal(await resumed.fs.read('kept'), 'x')
      assert.equal(await outputOf(resumed, 'cat kept'), 'x')
    },
    ['fs', 'exec'],
  ),
  sandboxCase(
    'resume.from-another-host',
    'another host resumes by id alone',
    async (sandbox, { connect }) => {
      await sandbox.fs.write('kept', 'x')
      const other = await required(connect, 'connect')()
      const resumed = required(await other.resume({ id: sandbox.id }), 'the resumed handle')
      assert.equal(await outputOf(resumed, 'cat kept'), 'x')
    },
    ['connect', 'fs', 'exec'],
  ),
  providerCase('resume.unknown-is-null', 'resume of an id that does not exist is null', async ({ provider }) => {
    assert.equal(await provider.resume({ id: freshId() }), null)
  }),
  sandboxCase('resume.destroyed-is-null', 'resume of a destroyed sandbox is null', async (sandbox, { provider }) => {
    await sandbox.destroy()
    assert.equal(await provider.resume({ id: sandbox.id }), null)
  }),
  sandboxCase(
    'resume.aborted',
    'resume with an aborted signal rejects with its reason',
    async ({ id }, { provider }) => {
      const reason = new Error('no longer wanted')
      await assert.rejects(provider.resume({ id, signal: AbortSignal.abort(reason) }), (error) => error === reason)
    },
  ),
  ...(['stop', 'archive'] as const).map((mode) =>
    sandboxCase(
      `park.${mode}`,
      `a sandbox parked by "${mode}" comes back with its files`,
      async (sandbox, { provider }) => {
        const park = required(provider.park, 'park')
        await sandbox.fs.write('kept', 'x')
        await park({ id: sandbox.id, mode })
        await park({ id: sandbox.id, mode })
        const resumed = required(await provider.resume({ id: sandbox.id }), 'the resumed handle')
        assert.equal(await outputOf(resumed, 'cat kept'), 'x')
      },
      ['park', 'fs', 'exec'],
    ),
  ),
]

const destroyCases: readonly ProviderCase[] = [
  sandboxCase(
    'destroy.repeatable',
    'destroy may be repeated, on the handle and the provider',
    async (sandbox, { provider }) => {
      await sandbox.destroy()
      await sandbox.destroy()
      await provider.destroy({ id: sandbox.id })
      await provider.destroy({ id: sandbox.id })
    },
  ),
  providerCase('destroy.unknown', 'destroy of a sandbox that is gone is fine', async ({ provider }) => {
    await provider.destroy({ id: freshId() })
  }),
  providerCase(
    'destroy.fresh-after',
    'create after destroy with the same id starts empty',
    async ({ create }) => {
      const id = freshId()
      const first = await create({ id, labels: LABELS })
      await first.fs.write('old', 'x')
      await first.destroy()
      const second = await create({ id, labels: { other: 'labels' } })
      assert.equal(await second.fs.exists('old'), false)
    },
    ['fs'],
  ),
  sandboxCase(
    'destroy.running-command',
    'destroy ends a command that runs',
    async (sandbox) => {
      const running = sandbox.process.exec('sleep 60').then(
        ({ exitCode }) => exitCode,
        () => 'rejected',
      )
      await sandbox.destroy()
      assert.notEqual(await running, 0)
    },
    ['exec'],
  ),
]

const listCases: readonly ProviderCase[] = [
  providerCase(
    'list.by-labels',
    'list gives the sandboxes that carry all the labels',
    async ({ create, provider }) => {
      const list = required(provider.list, 'list')
      const run = freshId()
      const [one, two] = [
        await create({ labels: { run, kind: 'one' } }),
        await create({ labels: { ...LABELS, run, kind: 'two' } }),
      ]
      await create({ labels: { run: freshId() } })
      const idsOf = async (labels: Record<string, string>): Promise<string[]> =>
        (await list({ labels })).map(({ sandboxId }) => sandboxId).sort()
      await eventually(() => idsOf({ run }), [one.id, two.id].sort())
      await eventually(() => idsOf({ ...LABELS, run, kind: 'two' }), [two.id])
      assert.deepEqual((await list({ labels: { run, kind: 'two' } }))[0]?.labels, { ...LABELS, run, kind: 'two' })
      await two.destroy()
      await eventually(() => idsOf({ run }), [one.id])
    },
    ['list'],
  ),
  providerCase(
    'probe.ok',
    'probe of a service that works says so',
    async ({ provider }) => {
      assert.equal((await required(provider.probe, 'probe')()).ok, true)
    },
    ['probe'],
  ),
  sandboxCase(
    'close.is-local',
    'close destroys no sandbox and may be repeated',
    async (sandbox, { connect }) => {
      const other = await required(connect, 'connect')()
      await other.resume({ id: sandbox.id })
      await other.close?.()
      await other.close?.()
      assert.equal(await outputOf(sandbox, 'echo alive'), 'alive\n')
    },
    ['connect', 'exec'],
  ),
]

export const lifecycleCases: readonly ProviderCase[] = [...createCases, ...resumeCases, ...destroyCases, ...listCases]
