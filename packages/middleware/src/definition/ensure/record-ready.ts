import type { Step } from '../run-steps.ts'
import type { SandboxBuild } from './sandbox-build.ts'

/** From here on the sandbox belongs to the thread, and no failure destroys it. */
export const recordReady: Step<SandboxBuild> = {
  name: 'record ready',
  async run(build) {
    const record = build.row('ready', build.handle.id)
    await build.store.upsert(record)
    build.record = record
    build.report('ready')
  },
}
