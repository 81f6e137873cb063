import type { Step } from '../../definition/run-steps.ts'
import type { SandboxSession } from '../sandbox-session.ts'

/** Only a sandbox whose set-up is complete is worth saving. */
export const startCheckpoints: Step<SandboxSession> = {
  name: 'start-checkpoints',
  run(session) {
    session.checkpoints?.start(session.handle())
    return () => session.checkpoints?.stop()
  },
}
