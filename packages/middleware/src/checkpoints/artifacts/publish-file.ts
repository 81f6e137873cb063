import { ConflictError, NotFoundError } from '@holdfast/core'
import type { ArtifactRecord } from '@holdfast/core'
import { workspaceRelativePath } from '@holdfast/core/provider-kit'
import { limitExceeded } from '../policy/checkpoint-limits.ts'
import type { CheckpointScope } from '../save-checkpoint.ts'
import type { CheckpointWorkspace } from '../workspace/checkpoint-workspace.ts'
import { readFiles } from '../workspace/read-files.ts'
import { saveArtifact } from './save-artifact.ts'

/** Stores a file of the workspace as an artifact. `FILE_NOT_FOUND`, `FILE_CONFLICT` for what is no file, `LIMIT_EXCEEDED`. */
export async function publishFile(
  scope: CheckpointScope,
  workspace: CheckpointWorkspace,
  input: { threadId: string; runId: string; path: string; name?: string; mimeType?: string },
): Promise<ArtifactRecord> {
  const path = workspaceRelativePath(workspace.root, input.path)
  const stat = await workspace.handle.fs.lstat?.(workspace.absolute(path))
  if (stat === undefined) throw missing(input.path)
  if (stat.type !== 'file') throw new ConflictError('FILE_CONFLICT', `${input.path} is no file.`)
  const max = scope.limits.maxFileBytes
  if (stat.size > max) throw limitExceeded({ limit: 'maxFileBytes', max, path, size: stat.size })
  const { name = path, mimeType, threadId, runId } = input
  for await (const entry of readFiles(workspace, [{ path, kind: 'file', mode: 0, size: stat.size }])) {
    if (entry.path !== path || entry.kind !== 'file') continue
    const { stores, redactor, policy, clock } = scope
    const { onSecret } = policy.stored
    const now = clock.now()
    return saveArtifact({ stores, redactor, onSecret, threadId, runId, name, mimeType, body: entry.body, now })
  }
  throw missing(input.path)
}

function missing(path: string): NotFoundError {
  return new NotFoundError('FILE_NOT_FOUND', `No file ${path}.`)
}
