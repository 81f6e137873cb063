import { InvalidInputError } from '@holdfast/core'
import type { SandboxPolicy } from '@holdfast/core'

const DECISIONS: readonly unknown[] = ['allow', 'ask', 'deny']

/** Checks and freezes a policy. `INVALID_CONFIGURATION` lists everything that is wrong with it. */
export function defineSandboxPolicy(policy: SandboxPolicy): SandboxPolicy {
  const faults = [...patternFaults(policy), ...decisionFaults(policy)]
  if (faults.length > 0) {
    throw new InvalidInputError('INVALID_CONFIGURATION', `The sandbox policy is wrong: ${faults.join('; ')}.`, {
      details: { faults },
    })
  }
  return Object.freeze({ ...policy })
}

function patternFaults({ commands = {} }: SandboxPolicy): string[] {
  return Object.entries(commands).flatMap(([list, patterns]) => {
    if (!DECISIONS.includes(list)) return [`commands.${list} is not one of allow, ask, deny`]
    if (!Array.isArray(patterns)) return [`commands.${list} must be a list of patterns`]
    const isUsable = patterns.every((pattern) => typeof pattern === 'string' && pattern.trim() !== '')
    return isUsable ? [] : [`commands.${list} holds an empty pattern`]
  })
}

function decisionFaults(policy: SandboxPolicy): string[] {
  const named = { default: policy.default, ...policy.capabilities }
  return Object.entries(named).flatMap(([name, decision]) =>
    decision === undefined || DECISIONS.includes(decision) ? [] : [`${name} must be allow, ask or deny`],
  )
}
