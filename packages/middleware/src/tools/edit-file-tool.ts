import { ConflictError, InvalidInputError } from '@holdfast/core'
import { z } from 'zod'
import { decideCapability } from '../policy/decide-capability.ts'
import { assertReadable } from './assert-readable.ts'
import { defineSandboxTool } from './sandbox-tool.ts'

/** Replaces exact text in a file. */
export const editFileTool = defineSandboxTool({
  name: 'edit_file',
  description:
    'Replaces text in a file of the workspace. oldText must stand in the file exactly once, blanks and line ends ' +
    'included, unless replaceAll is true.',
  inputSchema: z.object({
    path: z.string().min(1).describe('Path in the workspace.'),
    oldText: z.string().min(1).describe('The text to replace, exactly as it is in the file.'),
    newText: z.string().describe('The text to put in its place.'),
    replaceAll: z.boolean().optional().describe('Replaces every occurrence.'),
  }),
  decide: (_input, { policy }) => decideCapability(policy, 'fileWrite'),
  describe: ({ path }) => `Edit ${path}`,
  async run({ path, oldText, newText, replaceAll = false }, { handle }) {
    await assertReadable(handle, path)
    const before = await handle.fs.read(path)
    const replacements = before.split(oldText).length - 1
    if (replacements === 0)
      throw new ConflictError('FILE_CONFLICT', `oldText does not stand in ${path}; read the file again.`)
    if (oldText === newText) throw new InvalidInputError('INVALID_ARGUMENT', 'oldText and newText are the same.')
    if (replacements > 1 && !replaceAll) {
      const message = `oldText stands ${replacements} times in ${path}; give more of its surroundings or set replaceAll.`
      throw new ConflictError('FILE_CONFLICT', message)
    }
    await handle.fs.write(path, before.split(oldText).join(newText))
    return { path, replacements }
  },
})
