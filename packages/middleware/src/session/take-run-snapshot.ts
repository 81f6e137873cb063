import { withSnapshot } from '../definition/snapshot-age.ts'
import type { RunOutcome } from '../runs/run-outcome.ts'
import { reportSandboxFailure } from './report-sandbox-failure.ts'
import type { SandboxSession } from './sandbox-session.ts'
import { stillDrives } from './still-drives.ts'

/** Somebody who makes or removes the sandbox meanwhile is not waited for: the image would be of no use to them. */
const LOCK_WAIT_MS = 5_000

/**
 * Keeps the vendor's disk image of what a good run left, where the definition says so: a sandbox that is lost later is
 * made from it. A failure costs time later, so it is reported and not fatal.
 */
export async function takeRunSnapshot(session: SandboxSession, outcome: RunOutcome): Promise<void> {
  const { sandbox, definition, run, options } = session
  const stores = run?.session.stores ?? options.stores
  if (definition.lifecycle.snapshot !== 'after-run' || outcome.status !== 'completed') return
  if (sandbox === undefined || stores === undefined) return
  try {
    const { handle } = sandbox
    if (handle.snapshot === undefined)
      throw new TypeError(handle.capabilities.unsupported?.snapshots ?? 'It takes none.')
    if (!(await stillDrives(session))) return
    const { id } = await handle.snapshot(`run-${sandbox.record.key.slice(0, 12)}`)
    await recordSnapshot(session, stores, id)
  } catch (error) {
    reportSandboxFailure('No vendor snapshot was taken after the run', error, session.redactor)
  }
}

async function recordSnapshot(
  { sandbox, clock }: SandboxSession,
  { instances, locks }: NonNullable<SandboxSession['options']['stores']>,
  snapshotId: string,
): Promise<void> {
  if (sandbox === undefined) return
  const { key, providerSandboxId } = sandbox.record
  const record = async (): Promise<void> => {
    const row = await instances.get(key)
    if (row?.providerSandboxId !== providerSandboxId || (row.state ?? 'ready') !== 'ready') return
    const now = clock.now()
    await instances.upsert(withSnapshot({ ...row, updatedAt: now }, snapshotId, now))
  }
  await locks.withLock(`sandbox:${key}`, record, { waitMs: LOCK_WAIT_MS })
}
