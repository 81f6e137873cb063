import type { Step } from '../run-steps.ts'
import type { SandboxBuild } from './sandbox-build.ts'

/** Keeps the vendor's disk image of a finished setup. A failure costs time later, so it is logged and not fatal. */
export const takeSetupSnapshot: Step<SandboxBuild> = {
  name: 'take setup snapshot',
  async run(build) {
    if (build.definition.lifecycle.snapshot !== 'after-setup' || build.origin !== 'created') return
    const { handle } = build
    if (handle.snapshot === undefined) {
      const why = handle.capabilities.unsupported?.snapshots ?? 'no reason given'
      build.logger.warn(`Provider ${handle.provider} takes no snapshots (${why}); lifecycle.snapshot has no effect.`)
      return
    }
    build.report('snapshotting')
    try {
      const { id } = await handle.snapshot(`setup-${build.key.slice(0, 12)}`)
      build.snapshot = { id, takenAt: build.clock.now() }
    } catch (error) {
      build.signal.throwIfAborted()
      build.logger.warn('The vendor snapshot after setup failed; the sandbox is used without one.', error)
    }
  },
}
