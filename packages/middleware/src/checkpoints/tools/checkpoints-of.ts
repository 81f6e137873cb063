import { UnsupportedError } from '@holdfast/core'
import type { SandboxToolCall } from '../../tools/sandbox-tool.ts'
import type { RunCheckpoints } from '../run/run-checkpoints.ts'

/** The checkpoints of the call's own run. `CAPABILITY_UNSUPPORTED` when they are off. */
export function checkpointsOf({ binding }: SandboxToolCall): RunCheckpoints {
  const checkpoints = binding.checkpoints?.()
  if (checkpoints !== undefined) return checkpoints
  throw new UnsupportedError(
    'CAPABILITY_UNSUPPORTED',
    'Checkpoints are off: give withSandbox the option `checkpoints`.',
  )
}
