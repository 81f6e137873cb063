import { z } from 'zod'
import { defineSandboxTool } from '../../tools/sandbox-tool.ts'
import { checkpointsOf } from './checkpoints-of.ts'

/** The checkpoints of the run's own thread. */
export const listCheckpointsTool = defineSandboxTool({
  name: 'list_checkpoints',
  description: 'Lists the checkpoints of this conversation, newest first.',
  inputSchema: z.object({ limit: z.number().int().min(1).max(100).default(20) }),
  needsCheckpoints: true,
  async run({ limit }, call) {
    const checkpoints = await checkpointsOf(call).list(limit)
    return {
      checkpoints: checkpoints.map(({ id, createdAt, reason, label, sizes }) => ({
        checkpointId: id,
        createdAt: new Date(createdAt).toISOString(),
        reason,
        ...(label === undefined ? {} : { label }),
        changedFiles: sizes?.changedFiles ?? 0,
      })),
    }
  },
})
