import { z } from 'zod'
import { defineSandboxTool } from '../../tools/sandbox-tool.ts'
import { checkpointsOf } from './checkpoints-of.ts'

/** Gives a person a file of the workspace to keep. */
export const publishArtifactTool = defineSandboxTool({
  name: 'publish_artifact',
  description: 'Publishes a file of the workspace as a result that the person can download.',
  inputSchema: z.object({
    path: z.string().min(1).describe('Path in the workspace.'),
    name: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('File name for the person. The name in the path when left out.'),
    mimeType: z.string().min(3).max(200).optional(),
  }),
  needsCheckpoints: true,
  async run({ path, name, mimeType }, call) {
    const record = await checkpointsOf(call).publish(path, {
      ...(name === undefined ? {} : { name }),
      ...(mimeType === undefined ? {} : { mimeType }),
    })
    return { artifactId: record.artifactId, name: record.name, mimeType: record.mimeType, size: record.size }
  },
})
