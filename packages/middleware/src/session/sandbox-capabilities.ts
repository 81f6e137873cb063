import type { SandboxHandle, SandboxInstanceStore, SandboxPolicy } from '@holdfast/core'
import { createCapability } from '@tanstack/ai'
import type { Capability, CapabilityContext } from '@tanstack/ai'

/** The run's sandbox, for adapters and tools of the same run. */
export const SandboxCapability = createCapability<SandboxHandle>()('holdfast-sandbox')
/** Token of the policy of the run's sandbox. */
export const SandboxPolicyCapability = createCapability<SandboxPolicy>()('holdfast-sandbox-policy')
/** Token of the instance store that `withSandbox` uses. */
export const SandboxInstancesCapability = createCapability<SandboxInstanceStore>()('holdfast-sandbox-instances')

/** The run's sandbox, from a middleware or a tool. */
export function getSandbox(ctx: CapabilityContext): SandboxHandle {
  return SandboxCapability[0](ctx)
}

/** Another package's token for the same handle. Tokens are compared by object, so theirs has to be given. */
export type SandboxToken = Capability<SandboxHandle>
