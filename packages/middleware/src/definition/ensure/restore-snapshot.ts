import type { Step } from '../run-steps.ts'
import { snapshotAgeMs } from '../snapshot-age.ts'
import type { SandboxBuild } from './sandbox-build.ts'

/** Makes the sandbox from the vendor's snapshot. */
export const restoreSnapshot: Step<SandboxBuild> = {
  name: 'restore snapshot',
  async run(build) {
    const { provider, workspace, policy } = build.definition
    const snapshotId = build.previous?.latestSnapshotId
    if (provider.restoreSnapshot === undefined || snapshotId === undefined) return
    build.report('restoring')
    build.origin = 'restored'
    build.handle = await provider.restoreSnapshot({
      snapshotId,
      id: build.key,
      labels: build.labels,
      workspace,
      signal: build.signal,
      ...(policy !== undefined && { policy }),
    })
    build.isBootstrapped = true
  },
}

/** Whether there is a snapshot that the definition still wants and the provider can restore. */
export function canRestore(build: SandboxBuild): boolean {
  const { provider, lifecycle } = build.definition
  const { previous } = build
  if (provider.restoreSnapshot === undefined || lifecycle.snapshot === 'none') return false
  if (previous?.latestSnapshotId === undefined) return false
  return snapshotAgeMs(previous, build.clock.now()) <= (lifecycle.snapshotMaxAgeMs ?? Number.POSITIVE_INFINITY)
}
