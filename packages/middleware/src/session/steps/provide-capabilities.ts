import type { Step } from '../../definition/run-steps.ts'
import { SandboxCapability, SandboxInstancesCapability, SandboxPolicyCapability } from '../sandbox-capabilities.ts'
import type { SandboxSession } from '../sandbox-session.ts'

export const provideCapabilities: Step<SandboxSession> = {
  name: 'provide-capabilities',
  run(session) {
    const { ctx, definition, options } = session
    const handle = session.handle()
    ctx.provide(SandboxCapability, handle)
    for (const token of options.alsoProvide ?? []) ctx.provide(token, handle)
    if (definition.policy !== undefined) ctx.provide(SandboxPolicyCapability, definition.policy)
    const instances = session.run?.session.stores.instances ?? options.stores?.instances
    if (instances !== undefined) ctx.provide(SandboxInstancesCapability, instances)
  },
}
