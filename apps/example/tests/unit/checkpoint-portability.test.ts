import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HoldfastStores, SandboxHandle, SandboxProvider } from '@holdfast/core'
import { createCheckpoints, defineSandbox } from '@holdfast/middleware'
import { daytonaProvider } from '@holdfast/provider-daytona'
import { createEmbeddedStores } from '@holdfast/store-drizzle'
import { memoryProvider, processProvider } from '@holdfast/testing'
import { startDaytonaServer } from '@holdfast/testing/daytona'
import { expect, it, onTestFinished } from 'vitest'

const NAMES = [
  'plain',
  'with space',
  "quo'te",
  'back\\slash',
  'new\nline',
  '-dash',
  'ü',
  'e\u0301',
  '漢字',
  '__proto__',
]

async function providers(): Promise<SandboxProvider[]> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-portability-'))
  const server = await startDaytonaServer()
  const daytona = daytonaProvider({ apiUrl: server.url, apiKey: server.apiKey, target: 'us' })
  const local = processProvider({ dir })
  onTestFinished(async () => {
    await daytona.close?.()
    await server.close()
    for (const { sandboxId } of (await local.list?.({ labels: {} })) ?? []) await local.destroy({ id: sandboxId })
    await rm(dir, { recursive: true, force: true })
  })
  const memory = memoryProvider()
  return [memory, local, daytona, local, memory, daytona]
}

/** What a cycle does to the workspace: other files, other kinds, other modes each time. */
async function edit({ fs }: SandboxHandle, cycle: number): Promise<void> {
  const name = NAMES[cycle % NAMES.length] ?? ''
  await fs.remove(`/workspace/dir/${NAMES[(cycle + NAMES.length - 1) % NAMES.length]}`)
  for (const each of NAMES)
    await fs.write(
      `/workspace/dir/${each}`,
      Uint8Array.from({ length: 300 }, (_, at) => at * cycle),
    )
  await fs.remove(`/workspace/dir/${name}`)
  await fs.write(`/workspace/dir/${name}/inner`, `cycle ${cycle}`)
  await fs.chmod?.(`/workspace/dir/${name}/inner`, cycle % 2 === 0 ? 0o755 : 0o600)
  await fs.remove('/workspace/link')
  await fs.symlink?.(`dir/${name}`, '/workspace/link')
  await fs.mkdir(`/workspace/empty-${cycle}`)
}

async function move(stores: HoldfastStores, provider: SandboxProvider, cycle: number): Promise<void> {
  const thread = { threadId: 'thread-1' }
  const sandbox = defineSandbox({ id: `cycle-${cycle}`, provider })
  const checkpoints = createCheckpoints({ stores, sandbox })
  const context = { ...thread, runId: 'run-1', store: stores.instances, locks: stores.locks }
  const handle = await sandbox.ensure(context)
  if (cycle > 0) {
    await checkpoints.restore({ ...thread, into: handle })
    const restored = await checkpoints.save(thread)
    const head = await checkpoints.get({ ...thread, checkpointId: restored.id })
    const before = await checkpoints.get({ ...thread, checkpointId: restored.parentCheckpointId ?? '' })
    expect(head.files).toEqual(before.files)
  }
  await edit(handle, cycle)
  await checkpoints.save(thread)
  await sandbox.destroy(context)
}

it('a workspace moves from memory to local processes to Daytona and back, unchanged', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-stores-'))
  const stores = createEmbeddedStores({ dir })
  onTestFinished(async () => {
    await stores.close()
    await rm(dir, { recursive: true, force: true })
  })
  await stores.threads.ensure({ threadId: 'thread-1', ownerId: 'local' })
  for (const [cycle, provider] of (await providers()).entries()) await move(stores, provider, cycle)
  const head = await stores.checkpoints.get((await stores.checkpoints.getHead('thread-1')) ?? '')
  expect(head?.files.filter(({ kind }) => kind === 'file').length).toBeGreaterThanOrEqual(NAMES.length)
  expect(head?.report).toEqual([])
}, 180_000)
