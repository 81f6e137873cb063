/** They run the command that follows their own options. */
const WRAPPERS: ReadonlySet<string> = new Set([
  'builtin',
  'busybox',
  'command',
  'chroot',
  'doas',
  'env',
  'exec',
  'find',
  'flock',
  'ionice',
  'nice',
  'nohup',
  'npx',
  'parallel',
  'setsid',
  'stdbuf',
  'strace',
  'sudo',
  'su',
  'time',
  'timeout',
  'toybox',
  'unshare',
  'watch',
  'xargs',
])

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'ash', 'zsh', 'ksh', 'mksh'])

/** They run text that is not in the command line, or change what later words mean. */
const UNCLEAR_COMMANDS: ReadonlySet<string> = new Set(['alias', 'source', '.', 'trap'])

export interface WrappedCommand {
  /** The argument lists that may be run as commands. More than there are, because options are not told apart. */
  readonly commands: readonly (readonly string[])[]
  /** Shell text among the arguments, or `unclear` when the text is somewhere else. */
  readonly shellText?: string | 'unclear'
}

/** What a command runs in turn: `sudo rm x`, `timeout 5 rm x`, `sh -c 'rm x'`, `eval rm x`. */
export function wrappedCommand(argv: readonly string[]): WrappedCommand {
  const name = basename(argv[0] ?? '')
  const commands = WRAPPERS.has(name) ? suffixes(argv) : []
  const candidates = [argv, ...commands]
  const texts = candidates.map(shellText).filter((text) => text !== undefined)
  if (texts.length === 0) return { commands }
  return { commands, shellText: texts.length === 1 ? (texts[0] ?? 'unclear') : 'unclear' }
}

/** Every tail, as written and without the directory of its first word. */
function suffixes(argv: readonly string[]): string[][] {
  return argv.slice(1).flatMap((word, index) => {
    const rest = argv.slice(index + 2)
    return word.includes('/')
      ? [
          [word, ...rest],
          [basename(word), ...rest],
        ]
      : [[word, ...rest]]
  })
}

function shellText(argv: readonly string[]): string | undefined {
  const [name = '', ...args] = argv
  if (UNCLEAR_COMMANDS.has(name)) return 'unclear'
  if (name === 'eval') return args.join(' ')
  if (!SHELLS.has(basename(name))) return undefined
  const at = args.findIndex((arg) => /^-[A-Za-z]*c[A-Za-z]*$/.test(arg))
  if (at >= 0) return args[at + 1] ?? 'unclear'
  return 'unclear'
}

function basename(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1)
}
