import { isCheckpointPath, isHoldfastError, UnsupportedError } from '@holdfast/core'
import type { SandboxFileStat } from '@holdfast/core'
import type { PathPolicy } from '../policy/path-policy.ts'
import type { CheckpointWorkspace } from './checkpoint-workspace.ts'
import { KEPT_MODE_BITS, MAX_PATH_BYTES } from './workspace-entry.ts'
import type { UnusableEntry, WorkspaceEntry, WorkspaceListing } from './workspace-entry.ts'

/** A listing path by path, for sandboxes without the tools for more. `SANDBOX_SNAPSHOT_LSTAT_REQUIRED` without `lstat`. */
export async function walkWorkspace(workspace: CheckpointWorkspace, policy: PathPolicy): Promise<WorkspaceListing> {
  const { fs } = workspace.handle
  if (fs.lstat === undefined) {
    throw new UnsupportedError(
      'SANDBOX_SNAPSHOT_LSTAT_REQUIRED',
      'Checkpoints need a sandbox whose files have `lstat`.',
    )
  }
  const entries = new Map<string, WorkspaceEntry>()
  const excluded: string[] = []
  const unusable: UnusableEntry[] = []
  const pending: string[] = ['']
  for (let dir = pending.pop(); dir !== undefined; dir = pending.pop()) {
    for (const name of await namesIn(workspace, dir)) {
      workspace.signal?.throwIfAborted()
      const path = dir === '' ? name : `${dir}/${name}`
      const fault = pathFault(path)
      if (fault !== undefined) unusable.push({ path: path.slice(0, 300), reason: fault })
      else if (policy.isExcluded(path)) excluded.push(path)
      else {
        const entry = await entryAt(workspace, path, await fs.lstat(workspace.absolute(path)))
        if (entry === undefined) continue
        if ('reason' in entry) unusable.push(entry)
        else entries.set(path, entry)
        if ('kind' in entry && entry.kind === 'dir') pending.push(path)
      }
    }
  }
  return { entries, excluded, unusable }
}

async function namesIn(workspace: CheckpointWorkspace, dir: string): Promise<string[]> {
  try {
    return (await workspace.handle.fs.list(workspace.absolute(dir))).map(({ name }) => name)
  } catch (error) {
    if (dir !== '' && isGone(error)) return []
    throw error
  }
}

async function entryAt(
  workspace: CheckpointWorkspace,
  path: string,
  stat: SandboxFileStat | undefined,
): Promise<WorkspaceEntry | UnusableEntry | undefined> {
  if (stat === undefined) return undefined
  const mode = stat.mode & KEPT_MODE_BITS
  if (stat.type === 'file') return { path, kind: 'file', mode, size: stat.size }
  if (stat.type !== 'symlink') return { path, kind: stat.type, mode, size: 0 }
  const { readlink } = workspace.handle.fs
  if (readlink === undefined) return { path, reason: 'this sandbox cannot read links' }
  try {
    return { path, kind: 'symlink', mode, size: 0, target: await readlink(workspace.absolute(path)) }
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

/** Something else stands there now, or nothing. */
function isGone(error: unknown): boolean {
  return isHoldfastError(error, 'FILE_NOT_FOUND') || isHoldfastError(error, 'FILE_CONFLICT')
}

function pathFault(path: string): string | undefined {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return 'its path is too long'
  return isCheckpointPath(path) ? undefined : 'its name cannot be kept'
}
