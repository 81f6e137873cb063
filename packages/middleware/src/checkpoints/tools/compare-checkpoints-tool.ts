import { z } from 'zod'
import { headAndTail } from '../../tools/head-tail-text.ts'
import { defineSandboxTool } from '../../tools/sandbox-tool.ts'
import { checkpointsOf } from './checkpoints-of.ts'

/** What changed between two checkpoints of the run's own thread. */
export const compareCheckpointsTool = defineSandboxTool({
  name: 'compare_checkpoints',
  description: 'Shows which files changed from one checkpoint of this conversation to another, with diffs.',
  inputSchema: z.object({
    from: z.string().min(1).describe('Id of the earlier checkpoint.'),
    to: z.string().min(1).optional().describe('Id of the later checkpoint. The latest when left out.'),
  }),
  needsCheckpoints: true,
  async run({ from, to }, call) {
    const diff = await checkpointsOf(call).compare(from, to)
    const patch = diff.files.map((file) => file.diff ?? '').join('')
    const { text, isTruncated } = headAndTail(call.binding.redactor?.text(patch) ?? patch, call.limits.maxOutputBytes)
    return {
      files: diff.files.slice(0, 200).map(({ path, change }) => ({ path, change })),
      diff: text,
      ...((isTruncated || diff.truncated || diff.files.length > 200) && { truncated: true }),
    }
  },
})
