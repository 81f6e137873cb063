import { DetachableRunCapability, RunDetachedCapability } from '@tanstack/ai'
import { getRunDisconnect } from '@tanstack/ai/adapter-internals'
import type { Step } from '../../definition/run-steps.ts'
import type { Run } from '../../runs/run.ts'
import { ABORT_REASONS } from '../../runs/stop-signal.ts'
import { Viewer } from '../../runs/viewer.ts'
import { ChunkRedactor } from '../../secrets/chunk-redactor.ts'
import { endSandbox } from '../end-sandbox.ts'
import type { SandboxSession } from '../sandbox-session.ts'

/** `run.respond` does this itself. A response helper shows the chat's own events, and does not know that it is a viewer. */
function serveThroughHelper(session: SandboxSession, run: Run): void {
  const { stores, clock, ended } = run.session
  session.chunkRedactor = new ChunkRedactor(session.redactor)
  const viewer = new Viewer({ stores, runId: run.runId, clock }).watch({ now: false })
  void ended.then(() => viewer.stop())
  getRunDisconnect(session.ctx, { optional: true })?.subscribe(() => viewer.stop())
}

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
    if (run.eventLog.isProducing) serveThroughHelper(session, run)
    if (run.detachOnDisconnect) ctx.provide(DetachableRunCapability, true)
    getRunDisconnect(ctx, { optional: true })?.subscribe(() => run.viewerLeft())
    run.session.onStop((reason) => {
      if (reason === 'host-stop') ctx.provide(RunDetachedCapability, true)
      if (ctx.signal !== run.session.controller.signal) ctx.abort(ABORT_REASONS[reason])
    })
  },
}
