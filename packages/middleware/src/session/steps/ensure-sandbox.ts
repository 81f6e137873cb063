import type { Step } from '../../definition/run-steps.ts'
import { traced } from '../../telemetry/run-trace.ts'
import { destroySandboxOf } from '../destroy-sandbox-of.ts'
import type { SandboxSession } from '../sandbox-session.ts'

/** Resumes, restores or creates. What this run made is destroyed again when a later step fails. */
export const ensureSandbox: Step<SandboxSession> = {
  name: 'ensure-sandbox',
  async run(session) {
    const { definition, run } = session
    const attributes = { 'holdfast.provider': definition.provider.name }
    const sandbox = await traced(run?.session.trace, 'holdfast.sandbox.ensure', attributes, () =>
      definition.ensureDetailed(session.ensureContext()),
    )
    session.sandbox = sandbox
    session.status.ready(sandbox)
    if (sandbox.origin === 'resumed') return undefined
    return () => destroySandboxOf(session)
  },
}
