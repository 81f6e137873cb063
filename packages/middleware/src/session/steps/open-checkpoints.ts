import { RunCheckpoints } from '../../checkpoints/run/run-checkpoints.ts'
import type { Step } from '../../definition/run-steps.ts'
import { runCheckpointsInput } from '../run-checkpoints-input.ts'
import type { SandboxSession } from '../sandbox-session.ts'

/** A run that may not save must not begin. */
export const openCheckpoints: Step<SandboxSession> = {
  name: 'open-checkpoints',
  async run(session) {
    if (session.options.checkpoints === undefined) return undefined
    session.checkpoints = await RunCheckpoints.open(runCheckpointsInput(session, session.options.checkpoints))
    return () => session.checkpoints?.close()
  },
}
