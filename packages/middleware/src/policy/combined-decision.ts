import type { PolicyDecision } from '@holdfast/core'

/** Deny beats ask beats allow. Of none it is allow. */
export function strictest(decisions: readonly PolicyDecision[]): PolicyDecision {
  if (decisions.includes('deny')) return 'deny'
  return decisions.includes('ask') ? 'ask' : 'allow'
}

/** Of several names for one thing, the most that one of them may. Of none it is deny. */
export function loosest(decisions: readonly PolicyDecision[]): PolicyDecision {
  if (decisions.includes('allow')) return 'allow'
  return decisions.includes('ask') ? 'ask' : 'deny'
}
