import type { PolicyDecision } from '@holdfast/core'

/** Deny beats ask beats allow. Of none it is allow. */
export function strictest(decisions: readonly PolicyDecision[]): PolicyDecision {
  if (decisions.includes('deny')) return 'deny'
  return decisions.includes('ask') ? 'ask' : 'allow'
}
