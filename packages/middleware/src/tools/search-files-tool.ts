import { shellCommand, shellQuote } from '@holdfast/core/provider-kit'
import { InvalidInputError } from '@holdfast/core'
import { z } from 'zod'
import { headAndTail } from './head-tail-text.ts'
import { defineSandboxTool } from './sandbox-tool.ts'

const MAX_MATCHES = 200

/** Searches the text of files. */
export const searchFilesTool = defineSandboxTool({
  name: 'search_files',
  description:
    'Searches the files of the workspace for a regular expression (grep -E), and returns matching lines with path and ' +
    'line number. Does not look into .git and node_modules.',
  inputSchema: z.object({
    pattern: z.string().min(1).max(1_000).describe('Extended regular expression.'),
    path: z.string().min(1).optional().describe('Directory in the workspace. Default: the workspace root.'),
    name: z.string().min(1).optional().describe('Only files whose name matches, as "*.ts".'),
    ignoreCase: z.boolean().optional(),
  }),
  async run({ pattern, path, name, ignoreCase = false }, { handle, limits, binding, signal }) {
    if (/[\0\n]/.test(pattern)) throw new InvalidInputError('INVALID_ARGUMENT', 'pattern must be one line of text.')
    const result = await handle.process.exec(searchCommand(pattern, name, ignoreCase), {
      timeoutMs: limits.timeoutMs,
      maxOutputBytes: limits.maxOutputBytes * 4,
      ...(path !== undefined && { cwd: path }),
      ...(signal !== undefined && { signal }),
    })
    const problem = result.stderr.trim()
    if (result.stdout === '' && problem !== '')
      throw new InvalidInputError('INVALID_ARGUMENT', `The search failed: ${problem}`)
    const lines = result.stdout.split('\n').filter((line) => line !== '')
    const shown = lines
      .slice(0, MAX_MATCHES)
      .map((line) => line.replace(/^\.\//, ''))
      .join('\n')
    const { text, isTruncated } = headAndTail(binding.redactor?.text(shown) ?? shown, limits.maxOutputBytes)
    const isCut = isTruncated || lines.length > MAX_MATCHES || result.truncated === true || result.timedOut === true
    return { matches: text, count: Math.min(lines.length, MAX_MATCHES), ...(isCut && { truncated: true }) }
  },
})

/** Works with GNU and BusyBox tools; `/dev/null` makes grep name the file also when there is one. Files above 2 MiB and binary ones are left out. */
function searchCommand(pattern: string, name: string | undefined, ignoreCase: boolean): string {
  const prune = String.raw`find . \( -name .git -o -name node_modules -o -name .holdfast \) -prune -o -type f -size -4096b`
  const named = name === undefined ? '' : ` -name ${shellQuote(name)}`
  const grep = shellCommand(['grep', ignoreCase ? '-nEi' : '-nE', '-e', pattern, '--', '/dev/null'])
  return `${prune}${named} -exec ${grep} {} + | grep -v '^Binary file .* matches$' | head -n ${MAX_MATCHES + 1}`
}
