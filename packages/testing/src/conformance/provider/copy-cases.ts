import assert from 'node:assert/strict'
import type { SandboxHandle } from '@holdfast/core'
import { required } from '../stores/required.ts'
import { rejectsWith } from '../stores/rejects-with.ts'
import { outputOf } from './command-output.ts'
import { sandboxCase } from './provider-case.ts'
import type { ProviderCase } from './provider-case.ts'

/** Checks that two sandboxes had the same file and do not share it. */
async function assertApart(original: SandboxHandle, copy: SandboxHandle): Promise<void> {
  assert.notEqual(copy.id, original.id)
  assert.equal(await outputOf(copy, 'cat dir/kept && test -x run && cat link'), 'xx')
  await copy.fs.write('dir/kept', 'changed in the copy')
  assert.equal(await original.fs.read('dir/kept'), 'x')
}

async function fill(sandbox: SandboxHandle): Promise<void> {
  await sandbox.fs.write('dir/kept', 'x')
  await outputOf(sandbox, 'touch run && chmod 755 run && ln -s dir/kept link')
}

/** Vendor snapshots and forks. */
export const copyCases: readonly ProviderCase[] = [
  sandboxCase(
    'fork.is-independent',
    'fork gives an independent copy of the sandbox as it is',
    async (sandbox) => {
      await fill(sandbox)
      await assertApart(sandbox, await required(sandbox.fork, 'fork')())
    },
    ['fork', 'fs', 'exec'],
  ),
  sandboxCase(
    'snapshot.restores',
    'a snapshot restores the files of its time',
    async (sandbox, { provider }) => {
      await fill(sandbox)
      const { id: snapshotId } = await required(sandbox.snapshot, 'snapshot')('before')
      await sandbox.fs.write('later', 'x')
      const restored = await required(
        provider.restoreSnapshot,
        'restoreSnapshot',
      )({ snapshotId, labels: { restored: 'yes' } })
      assert.equal(await restored.fs.exists('later'), false)
      await assertApart(sandbox, restored)
    },
    ['snapshots', 'fs', 'exec'],
  ),
  sandboxCase(
    'snapshot.outlives-its-sandbox',
    'a snapshot outlives the sandbox',
    async (sandbox, { provider }) => {
      await sandbox.fs.write('kept', 'x')
      const { id: snapshotId } = await required(sandbox.snapshot, 'snapshot')()
      await sandbox.destroy()
      const restored = await required(provider.restoreSnapshot, 'restoreSnapshot')({ snapshotId })
      assert.equal(await restored.fs.read('kept'), 'x')
    },
    ['snapshots', 'fs'],
  ),
  sandboxCase(
    'snapshot.bad-id',
    'a snapshot id that is malformed is refused',
    async (_, { provider }) => {
      await rejectsWith('INVALID_ID', () => required(provider.restoreSnapshot, 'restoreSnapshot')({ snapshotId: '' }))
    },
    ['snapshots'],
  ),
]
