import type { PolicyDecision, SandboxPolicy } from '@holdfast/core'

/** Whether a model may write files, or reach the network. The policy's default where it does not say. */
export function decideCapability(
  policy: SandboxPolicy | undefined,
  capability: keyof NonNullable<SandboxPolicy['capabilities']>,
): PolicyDecision {
  if (policy === undefined) return 'allow'
  return policy.capabilities?.[capability] ?? policy.default ?? 'ask'
}
