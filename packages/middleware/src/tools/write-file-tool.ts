import { z } from 'zod'
import { decideCapability } from '../policy/decide-capability.ts'
import { defineSandboxTool } from './sandbox-tool.ts'

/** Creates or replaces a file. */
export const writeFileTool = defineSandboxTool({
  name: 'write_file',
  description: 'Creates a file of the workspace, or replaces all of its content. Makes missing directories.',
  inputSchema: z.object({
    path: z.string().min(1).describe('Path in the workspace.'),
    content: z.string().describe('The whole new content.'),
  }),
  decide: (_input, { policy }) => decideCapability(policy, 'fileWrite'),
  describe: ({ path }) => `Write ${path}`,
  async run({ path, content }, { handle }) {
    await handle.fs.write(path, content)
    return { path, bytes: Buffer.byteLength(content) }
  },
})
