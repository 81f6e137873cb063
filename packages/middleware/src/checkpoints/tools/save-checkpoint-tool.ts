import { z } from 'zod'
import { defineSandboxTool } from '../../tools/sandbox-tool.ts'
import { checkpointsOf } from './checkpoints-of.ts'

/** Saves the run's own workspace, under the lease that the run holds. */
export const saveCheckpointTool = defineSandboxTool({
  name: 'save_checkpoint',
  description: 'Saves the workspace and the conversation as a checkpoint that a person can come back to.',
  inputSchema: z.object({ label: z.string().min(1).max(200).optional().describe('A short name for people.') }),
  needsCheckpoints: true,
  async run({ label }, call) {
    const { checkpoint } = await checkpointsOf(call).save({
      reason: 'named',
      ...(label === undefined ? {} : { label }),
    })
    const { id, sizes, report = [] } = checkpoint
    return {
      checkpointId: id,
      files: sizes?.files ?? 0,
      changedFiles: sizes?.changedFiles ?? 0,
      notSaved: report.slice(0, 20),
    }
  },
})
