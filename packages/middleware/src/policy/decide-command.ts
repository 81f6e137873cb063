import type { PolicyDecision, SandboxPolicy } from '@holdfast/core'
import { collapseBlanks, matchesPattern } from './command-pattern.ts'
import { decideCapability } from './decide-capability.ts'
import { shellCommandParts } from './shell-command-parts.ts'
import type { ShellCommandPart, ShellCommandParts } from './shell-command-parts.ts'
import { loosest, strictest } from './combined-decision.ts'

export type SandboxScripts = Readonly<Record<string, string>>

/**
 * Whether a model may run a command line. Every simple command in it is judged by itself, those in pipes, lists,
 * subshells, substitutions, `sh -c` and `eval` included, and the strictest decision holds. Output to a file counts as a
 * file write. What cannot be told from the text (a command name that is a variable, syntax that `sh` may read
 * differently) is at least `ask` where the policy has ask or deny patterns or a stricter default.
 *
 * This guides a model, it does not confine one: an allowed program (`node`, `make`, a script in the workspace) can run
 * anything. The sandbox is the boundary.
 */
export function decideCommand(
  policy: SandboxPolicy | undefined,
  command: string,
  scripts: SandboxScripts = {},
): PolicyDecision {
  if (policy === undefined) return 'allow'
  const names = spellings(command, scripts)
  const isNamed = names.some((name) => (policy.commands?.allow ?? []).some((pattern) => isExactly(pattern, name)))
  const decisions = names.map((name) => decideSpelling(policy, name, scripts, isNamed))
  return strictest([...decisions, decideWhole(policy, names)])
}

/** The ask pattern that names something in the command line. None where only the default or unclear text asks. */
export function askingPattern(
  policy: SandboxPolicy | undefined,
  command: string,
  scripts: SandboxScripts = {},
): string | undefined {
  // As a deny pattern, because `ask` is also the answer to text that no pattern names.
  const names = (pattern: string): boolean =>
    decideCommand({ default: 'allow', commands: { deny: [pattern] } }, command, scripts) === 'deny'
  return policy?.commands?.ask?.find(names)
}

function decideSpelling(
  policy: SandboxPolicy,
  command: string,
  scripts: SandboxScripts,
  isNamed: boolean,
): PolicyDecision {
  const judged = shellCommandParts(command)
  const decisions = judged.parts.map((part) => decidePart(policy, part, scripts, isNamed))
  if (judged.isUnclear && !isNamed) decisions.push(decideUnclear(policy))
  if (judged.writesFiles && !isNamed) decisions.push(decideCapability(policy, 'fileWrite'))
  if (hasNothingJudged(judged) && collapseBlanks(command) !== '') decisions.push(policy.default ?? 'ask')
  return strictest(decisions)
}

function decidePart(
  policy: SandboxPolicy,
  part: ShellCommandPart,
  scripts: SandboxScripts,
  isNamed: boolean,
): PolicyDecision {
  const { ask = [], deny = [] } = policy.commands ?? {}
  const texts = spellings(part.text, scripts)
  const broad = [...part.alternatives, ...texts, ...texts.slice(1).flatMap(allAlternatives)]
  if (matchesAny(deny, broad)) return 'deny'
  if (matchesAny(ask, broad)) return 'ask'
  const { allow = [] } = policy.commands ?? {}
  const isListed =
    matchesAny(allow, [part.text]) || allow.some((pattern) => texts.some((text) => isExactly(pattern, text)))
  if (isNamed || isListed) return 'allow'
  const [, ...others] = texts
  return others.length === 0
    ? (policy.default ?? 'ask')
    : loosest(others.map((text) => decideSpelling(policy, text, {}, false)))
}

function allAlternatives(script: string): string[] {
  return shellCommandParts(script).parts.flatMap((part) => [part.text, ...part.alternatives])
}

/** The whole line may be named by a deny or ask pattern. An allow pattern with `*` must not swallow a second command. */
function decideWhole(policy: SandboxPolicy, names: readonly string[]): PolicyDecision {
  if (matchesAny(policy.commands?.deny ?? [], names)) return 'deny'
  return matchesAny(policy.commands?.ask ?? [], names) ? 'ask' : 'allow'
}

function decideUnclear(policy: SandboxPolicy): PolicyDecision {
  const { ask = [], deny = [] } = policy.commands ?? {}
  const floor: PolicyDecision = ask.length + deny.length > 0 ? 'ask' : 'allow'
  return strictest([floor, policy.default ?? 'ask'])
}

/** A script's name and the command it stands for, with the same arguments behind it. */
function spellings(command: string, scripts: SandboxScripts): string[] {
  const text = command.trim()
  const others = Object.entries(scripts).flatMap(([name, script]) =>
    [respelled(text, name, script), respelled(text, script, name)].filter((other) => other !== undefined),
  )
  return [text, ...others]
}

function respelled(text: string, from: string, to: string): string | undefined {
  if (text === from) return to
  return text.startsWith(`${from} `) ? `${to}${text.slice(from.length)}` : undefined
}

function matchesAny(patterns: readonly string[], texts: readonly string[]): boolean {
  return patterns.some((pattern) => texts.some((text) => matchesPattern(pattern, text)))
}

function isExactly(pattern: string, text: string): boolean {
  return !pattern.includes('*') && matchesPattern(pattern, text)
}

function hasNothingJudged({ parts, isUnclear }: ShellCommandParts): boolean {
  return parts.length === 0 && !isUnclear
}
