import { z } from 'zod'
import { IGNORED_DIRS } from '../files/ignored-dirs.ts'
import { defineSandboxTool } from './sandbox-tool.ts'

const MAX_ENTRIES = 1_000

/** Lists a directory, a few levels deep. */
export const listFilesTool = defineSandboxTool({
  name: 'list_files',
  description:
    'Lists files and directories of the workspace. Directories end in "/". Does not look into .git and node_modules.',
  inputSchema: z.object({
    path: z.string().min(1).optional().describe('Directory in the workspace. Default: the workspace root.'),
    depth: z.number().int().min(1).max(10).optional().describe('How many levels. Default 2.'),
  }),
  async run({ path = '.', depth = 2 }, { handle, signal }) {
    const entries: string[] = []
    let level = [{ dir: path, prefix: '' }]
    for (let left = depth; left > 0 && level.length > 0; left -= 1) {
      const below: typeof level = []
      for (const { dir, prefix } of level) {
        signal?.throwIfAborted()
        if (entries.length > MAX_ENTRIES) break
        for (const { name, type } of await handle.fs.list(dir)) {
          entries.push(`${prefix}${name}${type === 'dir' ? '/' : ''}`)
          if (type === 'dir' && !IGNORED_DIRS.has(name))
            below.push({ dir: `${dir}/${name}`, prefix: `${prefix}${name}/` })
        }
      }
      level = below
    }
    const isTruncated = entries.length > MAX_ENTRIES
    return { path, entries: entries.slice(0, MAX_ENTRIES).toSorted(), ...(isTruncated && { truncated: true }) }
  },
})
