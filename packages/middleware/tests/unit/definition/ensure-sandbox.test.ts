import { isHoldfastError } from '@holdfast/core'
import type { SandboxInstanceRecord } from '@holdfast/core'
import { describe, expect, it } from 'vitest'
import { defineSandbox } from '../../../src/definition/define-sandbox.ts'
import { defineWorkspace } from '../../../src/definition/define-workspace.ts'
import type { WorkspaceOptions } from '../../../src/definition/define-workspace.ts'
import type { SandboxDefinition, SandboxDefinitionOptions } from '../../../src/definition/sandbox-definition.ts'
import { createSecrets } from '../../../src/secrets/create-secrets.ts'
import { RecordedInstanceStore, sandboxFixture } from '../../fixtures/sandbox-fixture.ts'
import type { SandboxFixture } from '../../fixtures/sandbox-fixture.ts'

type Fixture = SandboxFixture & { sandbox: SandboxDefinition }

async function fixture(
  options: Partial<SandboxDefinitionOptions> & { files?: WorkspaceOptions } = {},
): Promise<Fixture> {
  const { files, ...rest } = options
  const base = await sandboxFixture()
  const sandbox = defineSandbox({ id: 'app', provider: base.provider, workspace: defineWorkspace(files), ...rest })
  return { ...base, sandbox }
}

async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return isHoldfastError(error) ? error.code : error
  }
  throw new Error('The call was expected to reject.')
}

function rowOf(f: Fixture): Promise<SandboxInstanceRecord | null> {
  return f.store.get(f.sandbox.key(f.context))
}

describe('ensure, when something fails before the row is ready', () => {
  it('leaves neither a sandbox nor a row when create is refused', async () => {
    const f = await fixture()
    f.faults.add({ on: 'create', do: 'fail', code: 'PROVIDER_REFUSED' })
    expect(await codeOf(f.sandbox.ensure(f.context))).toBe('PROVIDER_REFUSED')
    expect(await f.existing()).toEqual([])
    expect(f.store.writes).toEqual(['upsert intent', 'delete'])
  })

  it('leaves nothing when the answer to create is lost, and the next call makes one sandbox', async () => {
    const f = await fixture()
    f.faults.add({ on: 'create', do: 'lose-reply' })
    expect(await codeOf(f.sandbox.ensure(f.context))).toBe('PROVIDER_UNAVAILABLE')
    expect(await f.existing()).toEqual([])
    await f.sandbox.ensure(f.context)
    expect(await f.existing()).toHaveLength(1)
  })

  it('condemns the row when the half-built sandbox cannot be destroyed, and keeps the first error', async () => {
    const f = await fixture({ files: { setup: ['exit 7'] } })
    f.faults.add({ on: 'destroy', do: 'fail' })
    expect(await codeOf(f.sandbox.ensure(f.context))).toBe('SETUP_FAILED')
    expect(await rowOf(f)).toMatchObject({ state: 'condemned', providerSandboxId: (await f.existing())[0] })
    expect(f.warnings).toHaveLength(1)
  })

  it('destroys a condemned sandbox before it makes another', async () => {
    const f = await fixture()
    f.faults.add({ on: 'create', do: 'lose-reply' }, { on: 'destroy', do: 'fail', times: 2 })
    await codeOf(f.sandbox.ensure(f.context))
    expect((await rowOf(f))?.state).toBe('condemned')
    expect(await codeOf(f.sandbox.ensure(f.context))).toBe('PROVIDER_UNAVAILABLE')
    expect(f.faults.calls('create')).toBe(1)
    await f.sandbox.ensure(f.context)
    expect((await rowOf(f))?.state).toBe('ready')
    expect(await f.existing()).toHaveLength(1)
  })

  it.each(['fs.write', 'fs.read', 'exec'] as const)(
    'destroys the new sandbox when %s fails during bootstrap',
    async (on) => {
      const f = await fixture({ files: { setup: ['true'] } })
      f.faults.add({ on, do: 'fail' })
      expect(await codeOf(f.sandbox.ensure(f.context))).toBe('SANDBOX_UNREACHABLE')
      expect(await f.existing()).toEqual([])
      expect(await f.store.rows()).toEqual([])
    },
  )

  it('destroys the new sandbox when the ready row cannot be stored', async () => {
    const f = await fixture()
    const store = new (class extends RecordedInstanceStore {
      override async upsert(record: SandboxInstanceRecord): Promise<void> {
        if (record.state === 'ready') throw new Error('store down')
        return super.upsert(record)
      }
    })()
    await expect(f.sandbox.ensure({ ...f.context, store })).rejects.toThrow('store down')
    expect(await f.existing()).toEqual([])
    expect(await store.rows()).toEqual([])
  })

  it('makes no sandbox when the intent cannot be stored', async () => {
    const f = await fixture()
    const store = Object.assign(f.store, { upsert: () => Promise.reject(new Error('store down')) })
    await expect(f.sandbox.ensure({ ...f.context, store })).rejects.toThrow('store down')
    expect(f.faults.calls('create')).toBe(0)
  })

  it('leaves a foreign sandbox of the same name alone', async () => {
    const f = await fixture()
    await f.provider.create({ id: f.sandbox.key(f.context), labels: { owner: 'somebody else' } })
    expect(await codeOf(f.sandbox.ensure(f.context))).toBe('SANDBOX_FOREIGN')
    expect(await f.existing()).toHaveLength(1)
    expect(await f.store.rows()).toEqual([])
  })
})

describe('ensure, when the run is aborted', () => {
  it('rejects with the reason and destroys a sandbox that is created late', async () => {
    const f = await fixture()
    const controller = new AbortController()
    const { create } = f.provider
    const provider = {
      ...f.provider,
      create: async (input: Parameters<typeof create>[0]) => {
        const { signal: _ignored, ...rest } = input
        const handle = await create(rest)
        controller.abort(new Error('stop pressed'))
        return handle
      },
    }
    const sandbox = defineSandbox({ id: 'app', provider })
    await expect(sandbox.ensure({ ...f.context, signal: controller.signal })).rejects.toThrow('stop pressed')
    expect(await f.existing()).toEqual([])
    expect(await f.store.rows()).toEqual([])
  })

  it('gives the destruction a signal that is not aborted', async () => {
    const f = await fixture({ files: { setup: ['sleep 30'] } })
    const controller = new AbortController()
    const seen: (boolean | undefined)[] = []
    const { destroy } = f.provider
    const provider = {
      ...f.provider,
      destroy: async (input: Parameters<typeof destroy>[0]) => {
        seen.push(input.signal?.aborted)
        if (input.signal?.aborted !== true) await destroy(input)
      },
    }
    const sandbox = defineSandbox({ id: 'app', provider, workspace: f.sandbox.workspace })
    const held = f.faults.barrier('exec')
    const ensured = sandbox.ensure({ ...f.context, signal: controller.signal })
    await held.reached
    controller.abort(new Error('stop pressed'))
    await expect(ensured).rejects.toThrow('stop pressed')
    expect(seen).toEqual([false])
    expect(await f.existing()).toEqual([])
  })

  it('does nothing for a signal that is aborted before', async () => {
    const f = await fixture()
    await expect(f.sandbox.ensure({ ...f.context, signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow(
      'gone',
    )
    expect(f.store.writes).toEqual([])
  })

  it('touches neither sandbox nor row once the lock is lost, because its next holder may use them', async () => {
    const f = await fixture({ files: { setup: ['sleep 30'] } })
    const lease = new AbortController()
    const locks = { withLock: <T>(_key: string, fn: (signal: AbortSignal) => Promise<T>) => fn(lease.signal) }
    const held = f.faults.barrier('exec')
    const ensured = f.sandbox.ensure({ ...f.context, locks })
    await held.reached
    lease.abort(new Error('lease lost'))
    await expect(ensured).rejects.toThrow('lease lost')
    expect(await f.existing()).toHaveLength(1)
    expect((await rowOf(f))?.state).toBe('intent')
  })
})

describe('ensure, for a thread that has a sandbox', () => {
  it('resumes it with its files and its secrets', async () => {
    const secrets = createSecrets({ API_TOKEN: 'tok-8h2k9s0d7f' })
    const f = await fixture({ files: { secrets } })
    const first = await f.sandbox.ensureDetailed(f.context)
    await first.handle.fs.write('notes.txt', 'kept')
    const second = await f.sandbox.ensureDetailed({ ...f.context, runId: 'run-2' })
    expect([first.origin, second.origin]).toEqual(['created', 'resumed'])
    const { stdout } = await second.handle.process.exec('cat notes.txt; printf "$API_TOKEN"')
    expect(stdout).toBe('kepttok-8h2k9s0d7f')
    expect(second.record).toEqual(await rowOf(f))
    expect(second.record.latestRunId).toBe('run-2')
  })

  it('never makes another one because it cannot be reached', async () => {
    const f = await fixture()
    await f.sandbox.ensure(f.context)
    const row = await rowOf(f)
    f.faults.add({ on: 'resume', do: 'fail' })
    expect(await codeOf(f.sandbox.ensure(f.context))).toBe('PROVIDER_UNAVAILABLE')
    expect(await rowOf(f)).toEqual(row)
    expect(f.faults.calls('create')).toBe(1)
    expect(f.faults.calls('destroy')).toBe(0)
  })

  it('makes a fresh one when the service says that it is gone', async () => {
    const f = await fixture()
    const { handle } = await f.sandbox.ensureDetailed(f.context)
    await f.provider.destroy({ id: handle.id })
    expect((await f.sandbox.ensureDetailed(f.context)).origin).toBe('created')
  })

  it('adopts a finished one whose row was lost, with its files', async () => {
    const f = await fixture()
    const first = await f.sandbox.ensure(f.context)
    await first.fs.write('notes.txt', 'kept')
    await f.store.delete(f.sandbox.key(f.context))
    const again = await f.sandbox.ensureDetailed(f.context)
    expect(again.origin).toBe('resumed')
    expect(await again.handle.fs.read('notes.txt')).toBe('kept')
  })

  it('builds a half-built one from the start after a crash', async () => {
    const f = await fixture({ files: { setup: ['[ ! -e half ] && touch whole'] } })
    const key = f.sandbox.key(f.context)
    const lease = new AbortController()
    const locks = { withLock: <T>(_key: string, fn: (signal: AbortSignal) => Promise<T>) => fn(lease.signal) }
    const held = f.faults.barrier('exec')
    const crashed = f.sandbox.ensure({ ...f.context, locks })
    await held.reached
    lease.abort(new Error('host died'))
    await expect(crashed).rejects.toThrow('host died')
    held.open()
    const leftBehind = await f.provider.resume({ id: key })
    await leftBehind?.fs.write('half', '')
    const { handle } = await f.sandbox.ensureDetailed(f.context)
    expect(await handle.fs.exists('whole')).toBe(true)
    expect(await f.existing()).toHaveLength(1)
  })

  it('makes one sandbox for twenty calls at once', async () => {
    const f = await fixture()
    const handles = await Promise.all(Array.from({ length: 20 }, () => f.sandbox.ensure(f.context)))
    expect(new Set(handles.map(({ id }) => id)).size).toBe(1)
    expect(f.faults.calls('create')).toBe(1)
  })

  it('refuses a row that another provider wrote', async () => {
    const f = await fixture()
    const { record } = await f.sandbox.ensureDetailed(f.context)
    await f.store.upsert({ ...record, provider: 'elsewhere' })
    expect(await codeOf(f.sandbox.ensure(f.context))).toBe('SANDBOX_FOREIGN')
    expect(await codeOf(f.sandbox.destroy(f.context))).toBe('SANDBOX_FOREIGN')
    expect(await f.existing()).toHaveLength(1)
  })
})

describe('ensure, with vendor snapshots', () => {
  const lifecycle = { snapshot: 'after-setup', snapshotMaxAge: '2h' } as const

  async function withGoneSandbox(): Promise<Fixture> {
    const f = await fixture({ lifecycle, files: { setup: ['date +%N > stamp'] } })
    const { handle, record } = await f.sandbox.ensureDetailed(f.context)
    expect(record.latestSnapshotId).toBeTypeOf('string')
    await f.provider.destroy({ id: handle.id })
    return f
  }

  it('restores the snapshot of a sandbox that is gone, without another setup', async () => {
    const f = await withGoneSandbox()
    const calls = f.faults.calls('exec')
    const restored = await f.sandbox.ensureDetailed(f.context)
    expect(restored.origin).toBe('restored')
    expect(f.faults.calls('exec')).toBe(calls)
    expect(await restored.handle.fs.exists('stamp')).toBe(true)
    expect(restored.record.latestSnapshotId).toBeTypeOf('string')
  })

  it('keeps the snapshot on record when restoring fails for now', async () => {
    const f = await withGoneSandbox()
    const snapshotId = (await rowOf(f))?.latestSnapshotId
    f.faults.add({ on: 'restoreSnapshot', do: 'fail' })
    expect(await codeOf(f.sandbox.ensure(f.context))).toBe('PROVIDER_UNAVAILABLE')
    expect((await rowOf(f))?.latestSnapshotId).toBe(snapshotId)
    expect(f.faults.calls('create')).toBe(1)
    expect((await f.sandbox.ensureDetailed(f.context)).origin).toBe('restored')
  })

  it('makes a fresh sandbox when the snapshot is gone', async () => {
    const f = await withGoneSandbox()
    f.faults.add({ on: 'restoreSnapshot', do: 'fail', code: 'SANDBOX_NOT_FOUND' })
    expect((await f.sandbox.ensureDetailed(f.context)).origin).toBe('created')
    expect(f.warnings).toHaveLength(1)
  })

  it('makes a fresh sandbox when the snapshot is older than snapshotMaxAge, counted from when it was taken', async () => {
    const f = await fixture({ lifecycle })
    await f.sandbox.ensure(f.context)
    await f.clock.advance(1.5 * 3_600_000)
    const { handle } = await f.sandbox.ensureDetailed(f.context)
    await f.clock.advance(3_600_000)
    await f.provider.destroy({ id: handle.id })
    expect((await f.sandbox.ensureDetailed(f.context)).origin).toBe('created')
  })

  it('uses the sandbox without a snapshot when taking one fails', async () => {
    const f = await fixture({ lifecycle })
    f.faults.add({ on: 'snapshot', do: 'fail' })
    const { record } = await f.sandbox.ensureDetailed(f.context)
    expect(record).not.toHaveProperty('latestSnapshotId')
    expect(f.warnings).toHaveLength(1)
  })
})

describe('destroy', () => {
  it('keeps a condemned row when the sandbox could not be destroyed, and the next call finishes', async () => {
    const f = await fixture()
    await f.sandbox.ensure(f.context)
    f.faults.add({ on: 'destroy', do: 'fail', times: 2 })
    expect(await codeOf(f.sandbox.destroy(f.context))).toBe('SANDBOX_DESTROY_FAILED')
    expect(await codeOf(f.sandbox.destroy(f.context))).toBe('SANDBOX_DESTROY_FAILED')
    expect((await rowOf(f))?.state).toBe('condemned')
    await f.sandbox.destroy(f.context)
    expect(await f.store.rows()).toEqual([])
    expect(await f.existing()).toEqual([])
  })

  it('works under an aborted run, and calls onDestroy once it is done', async () => {
    let destroyed = 0
    const f = await fixture({ hooks: { onDestroy: () => void (destroyed += 1) } })
    await f.sandbox.ensure(f.context)
    await f.sandbox.destroy({ ...f.context, signal: AbortSignal.abort() })
    expect(await f.existing()).toEqual([])
    await f.sandbox.destroy(f.context)
    expect(destroyed).toBe(1)
  })

  it('gives up on a provider that never answers, and keeps the row', async () => {
    const f = await fixture({ destroyTimeoutMs: 5_000 })
    await f.sandbox.ensure(f.context)
    const provider = { ...f.provider, destroy: () => new Promise<void>(() => undefined) }
    const hanging = defineSandbox({ id: 'app', provider, destroyTimeoutMs: 5_000, workspace: f.sandbox.workspace })
    const destroyed = codeOf(hanging.destroy(f.context))
    await f.clock.advance(0)
    await f.clock.advance(5_000)
    expect(await destroyed).toBe('SANDBOX_DESTROY_FAILED')
    expect((await rowOf(f))?.state).toBe('condemned')
  })
})

describe('ensureExisting', () => {
  it('creates nothing, and finds what there is', async () => {
    const f = await fixture()
    expect(await f.sandbox.ensureExisting(f.context)).toBeNull()
    const { id } = await f.sandbox.ensure(f.context)
    expect((await f.sandbox.ensureExisting(f.context))?.id).toBe(id)
    await f.provider.destroy({ id })
    expect(await f.sandbox.ensureExisting(f.context)).toBeNull()
    expect(f.faults.calls('create')).toBe(1)
  })

  it('rejects when the sandbox cannot be reached', async () => {
    const f = await fixture()
    await f.sandbox.ensure(f.context)
    f.faults.add({ on: 'resume', do: 'fail' })
    expect(await codeOf(f.sandbox.ensureExisting(f.context))).toBe('PROVIDER_UNAVAILABLE')
  })
})

describe('a definition without stores', () => {
  it('remembers its sandboxes in memory and warns once', async () => {
    const f = await fixture()
    const { store: _store, locks: _locks, ...context } = f.context
    const first = await f.sandbox.ensure(context)
    const second = await f.sandbox.ensure(context)
    expect(second.id).toBe(first.id)
    expect(f.warnings).toHaveLength(1)
  })
})
