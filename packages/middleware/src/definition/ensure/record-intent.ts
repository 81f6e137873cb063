import { destroyInTime } from '../destroy-in-time.ts'
import type { Step, StepUndo } from '../run-steps.ts'
import type { SandboxBuild } from './sandbox-build.ts'

/**
 * Says that a sandbox may exist from now on, so that a sweep finds it after a crash. Its undo destroys what may have
 * been made and only then takes the row back.
 */
export const recordIntent: Step<SandboxBuild> = {
  name: 'record intent',
  async run(build): Promise<StepUndo> {
    await build.store.upsert(build.row('intent', build.key))
    return () => discardSandbox(build)
  },
}

async function discardSandbox(build: SandboxBuild): Promise<void> {
  // Whoever holds the lock now may have adopted this very sandbox.
  if (build.leaseSignal.aborted) return
  try {
    if (!build.isForeign) await destroyInTime(build.definition, build.sandboxId, build.clock)
  } catch (error) {
    await build.store.upsert(build.row('condemned', build.sandboxId))
    throw error
  }
  const { previous } = build
  if (previous?.latestSnapshotId === undefined) await build.store.delete(build.key)
  else await build.store.upsert(previous)
}
