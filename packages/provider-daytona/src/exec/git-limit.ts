/** Longest time for a git command that talks to a server. */
export const GIT_NETWORK_LIMIT_MS = 120_000

export const GIT_LIMIT_ADVICE =
  'holdfast: git did not finish within 120 seconds and was ended. Check the address of the remote, the credentials ' +
  'and whether the sandbox may reach the network.\n'

const NETWORK_COMMANDS = new Set(['push', 'fetch', 'pull', 'clone', 'ls-remote'])
const NETWORK_PAIRS = new Set(['remote update', 'submodule update'])
/** Options of git itself that take the next word. */
const OPTIONS_WITH_VALUE = new Set([
  '-C',
  '-c',
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--exec-path',
  '--config-env',
])
const WORD = /'[^']*'|"(?:\\.|[^"\\])*"|\\.|[;&|\n]+|[^\s'"\\;&|]+/g

/** Whether a command line runs a git command that talks to a server. Options before the sub-command are skipped. */
export function isGitNetworkCommand(command: string): boolean {
  if (!command.includes('git')) return false
  return commandsOf(command).some((words) => isNetworkGit(words))
}

function isNetworkGit(words: readonly string[]): boolean {
  const start = words.findIndex((word) => !/^[A-Za-z_][A-Za-z0-9_]*=/.test(word))
  if (start === -1 || !/^(?:.*\/)?git$/.test(words[start] ?? '')) return false
  let index = start + 1
  while (words[index]?.startsWith('-') === true) index += OPTIONS_WITH_VALUE.has(words[index] ?? '') ? 2 : 1
  const name = words[index] ?? ''
  return NETWORK_COMMANDS.has(name) || NETWORK_PAIRS.has(`${name} ${words[index + 1] ?? ''}`)
}

/** The words of each simple command, quotes taken off. Rough on purpose: it decides about a time limit only. */
function commandsOf(line: string): string[][] {
  const commands: string[][] = [[]]
  let end = -1
  for (const match of line.matchAll(WORD)) {
    const text = match[0]
    const words = commands.at(-1) as string[]
    if (/^[;&|\n]/.test(text)) {
      commands.push([])
    } else if (match.index === end && words.length > 0) {
      words[words.length - 1] += unquoted(text)
    } else {
      words.push(unquoted(text))
    }
    end = match.index + text.length
  }
  return commands
}

function unquoted(text: string): string {
  if (text.startsWith("'") || text.startsWith('"')) return text.slice(1, -1)
  return text.startsWith('\\') ? text.slice(1) : text
}
