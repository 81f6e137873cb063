import { DetachableRunCapability, RunDetachedCapability } from '@tanstack/ai'
import { getRunDisconnect } from '@tanstack/ai/adapter-internals'
import type { Step } from '../../definition/run-steps.ts'
import { endSandbox } from '../end-sandbox.ts'
import type { SandboxSession } from '../sandbox-session.ts'

/**
 * From here on a disconnect is bookkeeping, a stop reaches the engine, and the end of the run, however it comes about,
 * finds the sandbox.
 */
export const listen: Step<SandboxSession> = {
  name: 'listen',
  run(session) {
    const { ctx, run } = session
    if (run === undefined) return
    run.session.redactor = session.redactor
    run.session.addEndHandler({ name: 'sandbox', run: (outcome) => session.endOnce(outcome, endSandbox) })
    if (run.detachOnDisconnect) ctx.provide(DetachableRunCapability, true)
    getRunDisconnect(ctx, { optional: true })?.subscribe(() => run.viewerLeft())
    run.session.onStop((reason) => {
      if (reason === 'host-stop') ctx.provide(RunDetachedCapability, true)
    })
  },
}
