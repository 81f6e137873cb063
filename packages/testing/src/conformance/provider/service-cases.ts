import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { isHoldfastError } from '@holdfast/core'
import type { SandboxHandle } from '@holdfast/core'
import type { ProviderFaults } from '../provider-subject.ts'
import { required } from '../stores/required.ts'
import { rejectsWith } from '../stores/rejects-with.ts'
import { eventually } from './eventually.ts'
import { outputOf } from './command-output.ts'
import { providerCase, sandboxCase } from './provider-case.ts'
import type { ProviderCase } from './provider-case.ts'

const LABELS = { app: 'conformance', owner: 'us' }

/** Fails unless the call rejects with an error that a later try may mend. */
async function rejectsForNow(call: () => Promise<unknown>, what: string): Promise<void> {
  const error = await call().then(
    (answer) => assert.fail(`${what} answered ${JSON.stringify(answer)} though the service is out of reach`),
    (reason: unknown) => reason,
  )
  assert.ok(isHoldfastError(error), `${what} rejected with something else than a Holdfast error`)
  assert.equal(error.retryable, true, `${what}: ${error.code} is not marked as retryable`)
}

async function duringOutage(faults: ProviderFaults | undefined, work: () => Promise<void>): Promise<void> {
  const { setOutage } = required(faults, 'faults')
  await setOutage(true)
  try {
    await work()
  } finally {
    await setOutage(false)
  }
}

const outageCases: readonly ProviderCase[] = [
  sandboxCase(
    'outage.resume',
    'a service out of reach is never read as a sandbox that is gone',
    async (sandbox, { provider, faults }) => {
      await duringOutage(faults, () => rejectsForNow(() => provider.resume({ id: sandbox.id }), 'resume'))
      assert.equal((await provider.resume({ id: sandbox.id }))?.id, sandbox.id)
    },
    ['faults'],
  ),
  sandboxCase(
    'outage.destroy',
    'destroy rejects when it could not destroy, and may be repeated',
    async (sandbox, { provider, faults }) => {
      await duringOutage(faults, async () => {
        await rejectsForNow(() => provider.destroy({ id: sandbox.id }), 'destroy of the provider')
        await rejectsForNow(() => sandbox.destroy(), 'destroy of the handle')
      })
      assert.equal((await provider.resume({ id: sandbox.id }))?.id, sandbox.id)
      await sandbox.destroy()
      assert.equal(await provider.resume({ id: sandbox.id }), null)
    },
    ['faults'],
  ),
  providerCase(
    'outage.create',
    'create rejects when the service is out of reach',
    async ({ create, provider, faults }) => {
      const id = `conformance-${randomUUID()}`
      await duringOutage(faults, () => rejectsForNow(() => create({ id }), 'create'))
      assert.equal(await provider.resume({ id }), null)
    },
    ['faults'],
  ),
  sandboxCase(
    'outage.files',
    'exists and lstat reject when they cannot find out',
    async ({ fs }, { faults }) => {
      await duringOutage(faults, async () => {
        await rejectsForNow(() => fs.exists('file'), 'exists')
        await rejectsForNow(() => required(fs.lstat, 'lstat')('file'), 'lstat')
        await rejectsForNow(() => fs.read('file'), 'read')
        await rejectsForNow(() => fs.list('.'), 'list')
        await rejectsForNow(() => fs.remove('file'), 'remove')
      })
      assert.equal(await fs.exists('file'), false)
    },
    ['faults', 'fs'],
  ),
  sandboxCase(
    'outage.exec',
    'a command that could not be started rejects',
    async (sandbox, { faults }) => {
      await duringOutage(faults, () => rejectsForNow(() => sandbox.process.exec('true'), 'exec'))
      assert.equal(await outputOf(sandbox, 'echo back'), 'back\n')
    },
    ['faults', 'exec'],
  ),
  providerCase(
    'outage.probe',
    'probe answers with a reason when the service is out of reach',
    async ({ provider, faults }) => {
      await duringOutage(faults, async () => {
        const { ok, reason } = await required(provider.probe, 'probe')()
        assert.equal(ok, false)
        assert.ok((reason ?? '') !== '', 'the reason is missing')
      })
    },
    ['faults', 'probe'],
  ),
  providerCase(
    'lost-reply.create',
    'a create whose answer was lost makes no second sandbox',
    async ({ create, provider, faults }) => {
      const id = `conformance-${randomUUID()}`
      const labels = { ...LABELS, run: id }
      await required(faults, 'faults').loseNextReply('create')
      const first = await create({ id, labels }).catch((error: unknown) => error)
      const second = first instanceof Error ? await create({ id, labels }) : (first as SandboxHandle)
      const list = required(provider.list, 'list')
      await eventually(async () => (await list({ labels: { run: id } })).map(({ sandboxId }) => sandboxId), [second.id])
    },
    ['faults', 'list'],
  ),
  sandboxCase(
    'lost-reply.destroy',
    'a destroy whose answer was lost may be repeated',
    async (sandbox, { provider, faults }) => {
      await required(faults, 'faults').loseNextReply('destroy')
      await sandbox.destroy().catch(() => undefined)
      await sandbox.destroy()
      assert.equal(await provider.resume({ id: sandbox.id }), null)
    },
    ['faults'],
  ),
]

/** Every call of a handle that needs a live sandbox. */
function callsOf(sandbox: SandboxHandle): Record<string, () => Promise<unknown>> {
  const { fs, process, git, ports, env, archive, terminal, snapshot, fork } = sandbox
  return {
    'fs.read': () => fs.read('file'),
    'fs.readBytes': () => fs.readBytes('file'),
    'fs.write': () => fs.write('file', 'x'),
    'fs.list': () => fs.list('.'),
    'fs.mkdir': () => fs.mkdir('dir'),
    'fs.remove': () => fs.remove('file'),
    'fs.rename': () => fs.rename('file', 'to'),
    'fs.exists': () => fs.exists('file'),
    'process.exec': () => process.exec('true'),
    'process.spawn': () => process.spawn('true'),
    'git.status': () => git.status(),
    'ports.connect': () => ports.connect(80),
    'env.set': () => env.set({ A: 'x' }),
    ...(fs.lstat === undefined ? {} : { 'fs.lstat': () => required(fs.lstat, 'lstat')('file') }),
    ...(archive === undefined ? {} : { 'archive.pack': () => archive.pack(['file']) }),
    ...(terminal === undefined ? {} : { 'terminal.open': () => terminal.open() }),
    ...(snapshot === undefined ? {} : { snapshot: () => snapshot() }),
    ...(fork === undefined ? {} : { fork: () => fork() }),
  }
}

const handleCases: readonly ProviderCase[] = [
  sandboxCase('closed.refuses', 'after destroy every call is SANDBOX_CLOSED', async (sandbox) => {
    await sandbox.destroy()
    for (const [name, call] of Object.entries(callsOf(sandbox))) await rejectsWith('SANDBOX_CLOSED', call, name)
  }),
  sandboxCase(
    'closed.elsewhere',
    'a handle whose sandbox was destroyed by another handle gives SANDBOX_NOT_FOUND, and makes nothing',
    async (sandbox, { provider }) => {
      await sandbox.fs.write('file', 'x')
      await provider.destroy({ id: sandbox.id })
      const { fs, process } = sandbox
      await rejectsWith('SANDBOX_NOT_FOUND', () => fs.exists('file'), 'exists')
      await rejectsWith('SANDBOX_NOT_FOUND', () => fs.read('file'), 'read')
      await rejectsWith('SANDBOX_NOT_FOUND', () => fs.write('dir/file', 'x'), 'write')
      await rejectsWith('SANDBOX_NOT_FOUND', () => process.exec('true'), 'exec')
      assert.equal(await provider.resume({ id: sandbox.id }), null)
    },
    ['fs', 'exec'],
  ),
  sandboxCase(
    'ports.range',
    'a port outside 1 to 65535 is refused',
    async ({ ports }) => {
      for (const port of [0, -1, 65_536, 1.5, Number.NaN, '80' as unknown as number]) {
        await rejectsWith('INVALID_ARGUMENT', () => ports.connect(port), String(port))
      }
    },
    ['ports'],
  ),
  sandboxCase(
    'ports.channel',
    'connect gives a URL without secrets, whether or not something listens',
    async ({ ports }) => {
      for (const port of [1, 8_080, 65_535]) {
        const { url, token } = await ports.connect(port)
        assert.match(new URL(url).protocol, /^https?:$/)
        assert.equal(new URL(url).username + new URL(url).password, '')
        if (token !== undefined) assert.equal(url.includes(token), false)
      }
      assert.equal((await ports.connect(8_080)).url, (await ports.connect(8_080)).url)
    },
    ['ports'],
  ),
  sandboxCase(
    'ports.reaches',
    'the channel reaches what listens on the port',
    async (sandbox, { httpServerCommand }) => {
      const port = 20_000 + Math.floor(Math.random() * 20_000)
      const server = await sandbox.process.spawn(required(httpServerCommand, 'httpServerCommand')(port))
      const { url, headers } = await sandbox.ports.connect(port)
      const answer = (): Promise<string> =>
        fetch(url, headers === undefined ? {} : { headers }).then(
          (response) => response.text(),
          () => 'nobody listens',
        )
      await eventually(answer, 'hello')
      await server.kill()
    },
    ['ports', 'backgroundProcesses', 'httpServer', 'killableProcesses'],
  ),
]

export const serviceCases: readonly ProviderCase[] = [...outageCases, ...handleCases]
