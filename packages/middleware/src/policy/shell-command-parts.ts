import { forEachChild, parse } from 'unbash'
import type { Command, Redirect, SyntaxNode, Word } from 'unbash'
import { wrappedCommand } from './wrapped-command.ts'

/** One simple command, wherever in the command line it stands. */
export interface ShellCommandPart {
  /** As it is written, with its variables, without its redirections. What an allow pattern must match. */
  readonly text: string
  /** All that it may run: without variables, without its directory, behind `sudo` and the like. For deny and ask. */
  readonly alternatives: readonly string[]
}

export interface ShellCommandParts {
  readonly parts: readonly ShellCommandPart[]
  /** True when something is there whose effect cannot be told from the text. */
  readonly isUnclear: boolean
  /** True when output is directed to a file. */
  readonly writesFiles: boolean
}

/** `sh` reads these differently than the parser, or runs text that is made at run time. */
const UNCLEAR_NODES: ReadonlySet<SyntaxNode['type']> = new Set([
  'TestCommand',
  'ArithmeticCommand',
  'ArithmeticFor',
  'Select',
  'Coproc',
  'AnsiCQuoted',
  'LocaleString',
  'ProcessSubstitution',
  'HereString',
  'ArrayValue',
])

const DYNAMIC_PARTS: ReadonlySet<string> = new Set(['Literal', 'SingleQuoted', 'DoubleQuoted'])

const WRITING_OPERATORS: ReadonlySet<string> = new Set(['>', '>>', '>|', '<>', '&>', '&>>'])

/** Commands in commands in commands: deeper ones count as unclear. */
const MAX_DEPTH = 5

/** Takes a command line apart: every simple command of lists, pipes, subshells, substitutions and function bodies. */
export function shellCommandParts(command: string, depth = 0): ShellCommandParts {
  const parts: ShellCommandPart[] = []
  let isUnclear = depth > MAX_DEPTH
  let writesFiles = false
  const add = (inner: ShellCommandParts): void => {
    parts.push(...inner.parts)
    isUnclear ||= inner.isUnclear
    writesFiles ||= inner.writesFiles
  }
  const visit = (node: SyntaxNode): void => {
    if (UNCLEAR_NODES.has(node.type) || hasErrors(node)) isUnclear = true
    if (node.type === 'CommandExpansion' && node.script === undefined) isUnclear = true
    if (node.type === 'Redirect' && writesFile(node)) writesFiles = true
    if (node.type === 'Redirect' && node.operator.startsWith('&')) isUnclear = true
    if (node.type === 'Pipeline' && node.operators.includes('|&')) isUnclear = true
    if (node.type === 'Command') {
      const judged = commandPart(node)
      if (judged !== undefined) parts.push(judged)
      const inner = innerCommand(node)
      if (inner === 'unclear') isUnclear = true
      else if (inner !== undefined && depth <= MAX_DEPTH) add(shellCommandParts(inner, depth + 1))
    }
    forEachChild(node, visit)
  }
  visit(parse(command))
  return { parts, isUnclear, writesFiles }
}

function hasErrors(node: SyntaxNode): boolean {
  return node.type === 'Script' && node.errors !== undefined && node.errors.length > 0
}

function writesFile({ operator, target }: Redirect): boolean {
  return WRITING_OPERATORS.has(operator) && target?.value !== '/dev/null'
}

function commandPart(node: Command): ShellCommandPart | undefined {
  const words = commandWords(node)
  const assignments = node.prefix.filter((prefix) => prefix.type === 'Assignment').map(({ text }) => text)
  if (words.length === 0 && assignments.length === 0) return undefined
  const values = words.map((word) => word.value)
  const [name = '', ...rest] = values
  const basename = name.slice(name.lastIndexOf('/') + 1)
  const alternatives = [values, [basename, ...rest]].flatMap((argv) => [argv, ...wrappedCommand(argv).commands])
  return {
    text: [...assignments, ...values].join(' '),
    alternatives: alternatives.map((argv) => argv.join(' ')).filter((text) => text !== ''),
  }
}

function commandWords(node: Command): { value: string; isStatic: boolean }[] {
  const args = node.args.map((arg) => (arg.type === 'Word' ? staticWord(arg) : { value: arg.text, isStatic: false }))
  return node.name === undefined ? args : [staticWord(node.name), ...args]
}

function staticWord(word: Word): { value: string; isStatic: boolean } {
  const isStatic = (word.parts ?? []).every(
    (part) =>
      DYNAMIC_PARTS.has(part.type) &&
      (part.type !== 'DoubleQuoted' || part.parts.every((child) => child.type === 'Literal')),
  )
  return { value: word.value, isStatic: isStatic && !word.text.startsWith('~') }
}

/** Shell text that the command runs (`sh -c`, `eval`), or that it runs something that cannot be told. */
function innerCommand(node: Command): string | 'unclear' | undefined {
  const words = commandWords(node)
  if (words[0]?.isStatic === false) return 'unclear'
  const { shellText } = wrappedCommand(words.map((word) => word.value))
  if (shellText === undefined || shellText === 'unclear') return shellText
  return words.every((word) => word.isStatic) ? shellText : 'unclear'
}
