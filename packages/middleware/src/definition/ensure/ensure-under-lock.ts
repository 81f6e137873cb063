import { isHoldfastError } from '@holdfast/core'
import type { SandboxInstanceRecord } from '@holdfast/core'
import { bootstrapSteps } from '../bootstrap/bootstrap-steps.ts'
import { destroyInTime } from '../destroy-in-time.ts'
import type { EnsuredSandbox } from '../ensure-context.ts'
import { runSteps } from '../run-steps.ts'
import type { Step } from '../run-steps.ts'
import { createSandbox } from './create-sandbox.ts'
import { recordIntent } from './record-intent.ts'
import { recordReady } from './record-ready.ts'
import { reserveSlot } from './reserve-slot.ts'
import { canRestore, restoreSnapshot } from './restore-snapshot.ts'
import { assertOwnProvider, resumeSandbox } from './resume-sandbox.ts'
import { SandboxBuild } from './sandbox-build.ts'
import type { SandboxBuildInput } from './sandbox-build.ts'
import { setSecrets } from './set-secrets.ts'
import { takeSetupSnapshot } from './take-setup-snapshot.ts'

const secretsStep: Step<SandboxBuild> = {
  name: 'set secrets',
  run: (build) => setSecrets(build.handle, build.definition.workspace),
}

const restoreSteps: readonly Step<SandboxBuild>[] = [
  reserveSlot,
  recordIntent,
  restoreSnapshot,
  secretsStep,
  recordReady,
]

const createSteps: readonly Step<SandboxBuild>[] = [
  reserveSlot,
  recordIntent,
  createSandbox,
  secretsStep,
  ...bootstrapSteps,
  takeSetupSnapshot,
  recordReady,
]

/** Resume, else restore, else create. The caller holds the lock of the key. */
export async function ensureUnderLock(input: Omit<SandboxBuildInput, 'previous'>): Promise<EnsuredSandbox> {
  const { definition, store, key } = input
  let previous = await store.get(key)
  if (previous !== null) assertOwnProvider(definition, previous)
  if (previous?.state === 'condemned') previous = await clearCondemned(input, previous)
  const resumed = await resume(new SandboxBuild({ ...input, previous }))
  if (resumed !== null) return resumed
  return (
    (await restore(new SandboxBuild({ ...input, previous }))) ??
    build(new SandboxBuild({ ...input, previous }), createSteps)
  )
}

async function resume(build: SandboxBuild): Promise<EnsuredSandbox | null> {
  const { previous, definition, signal } = build
  if (previous === null || (previous.state ?? 'ready') !== 'ready') return null
  signal.throwIfAborted()
  build.report('resuming')
  const handle = await resumeSandbox(definition, previous, signal)
  if (handle === null) return null
  signal.throwIfAborted()
  build.handle = handle
  build.origin = 'resumed'
  const record = build.row('ready', handle.id)
  await build.store.upsert(record)
  build.report('ready')
  return { handle, origin: 'resumed', record }
}

async function restore(attempt: SandboxBuild): Promise<EnsuredSandbox | null> {
  if (!canRestore(attempt)) return null
  try {
    return await build(attempt, restoreSteps)
  } catch (error) {
    if (!isHoldfastError(error, 'SANDBOX_NOT_FOUND')) throw error
    attempt.logger.warn('The vendor snapshot of this thread is gone; a fresh sandbox is made.', error)
    return null
  }
}

async function build(attempt: SandboxBuild, steps: readonly Step<SandboxBuild>[]): Promise<EnsuredSandbox> {
  await runSteps(steps, attempt, {
    signal: attempt.signal,
    onUndoError: (_name, error) => attempt.logger.warn('A half-built sandbox could not be taken back.', error),
  })
  const { handle, origin, record } = attempt
  return { handle, origin, record: record ?? attempt.row('ready', handle.id) }
}

/** A condemned sandbox must be gone before its key is used again. */
async function clearCondemned(
  input: Omit<SandboxBuildInput, 'previous'>,
  record: SandboxInstanceRecord,
): Promise<SandboxInstanceRecord | null> {
  await destroyInTime(input.definition, record.providerSandboxId, input.context.clock)
  if (record.latestSnapshotId !== undefined) return record
  await input.store.delete(record.key)
  return null
}
