import type { Step } from '../../definition/run-steps.ts'
import type { SandboxSession } from '../sandbox-session.ts'

/** Before any hook or agent sees the sandbox. When it fails, a sandbox that this run made is destroyed. */
export const restoreCheckpoint: Step<SandboxSession> = {
  name: 'restore-checkpoint',
  async run(session) {
    const { checkpoints, sandbox, signal } = session
    if (checkpoints === undefined || sandbox === undefined) return
    await checkpoints.restoreHead(sandbox.handle, sandbox.origin === 'resumed', signal)
  },
}
