import { isHoldfastError } from '@holdfast/core'
import { readArchive } from '@holdfast/core/provider-kit'
import type { ReadArchiveEntry } from '@holdfast/core/provider-kit'
import type { CheckpointWorkspace } from './checkpoint-workspace.ts'
import type { WorkspaceEntry } from './workspace-entry.ts'

/**
 * The contents of files, streamed, in few requests where the sandbox packs archives. Files that vanished are left out. A
 * body must be read before the next entry is asked for. What comes is the sandbox's word: paths may be others than asked
 * for, and kinds may have changed.
 */
export async function* readFiles(
  workspace: CheckpointWorkspace,
  files: readonly WorkspaceEntry[],
): AsyncGenerator<ReadArchiveEntry, void, undefined> {
  const { handle, signal } = workspace
  if (files.length === 0) return
  if (handle.archive === undefined) {
    yield* readOneByOne(workspace, files)
    return
  }
  const paths = files.map(({ path }) => workspace.toArchivePath(path))
  const archive = await handle.archive.pack(paths, signal === undefined ? {} : { signal })
  for await (const entry of readArchive(archive)) {
    const path = workspace.fromArchivePath(entry.path)
    if (path === undefined) continue
    if (entry.kind !== 'hardlink') yield { ...entry, path }
    else yield { ...entry, path, target: workspace.fromArchivePath(entry.target) ?? entry.target }
  }
}

/** What became a directory or a link meanwhile is left out, like what vanished. */
async function* readOneByOne(
  workspace: CheckpointWorkspace,
  files: readonly WorkspaceEntry[],
): AsyncGenerator<ReadArchiveEntry, void, undefined> {
  const { fs } = workspace.handle
  for (const { path, mode } of files) {
    workspace.signal?.throwIfAborted()
    const at = workspace.absolute(path)
    try {
      if ((await fs.lstat?.(at))?.type !== 'file') continue
      const bytes = await fs.readBytes(at)
      const body = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream()
      yield { path, kind: 'file', size: bytes.length, mode, body }
    } catch (error) {
      if (!isUnreadable(error)) throw error
    }
  }
}

function isUnreadable(error: unknown): boolean {
  return ['FILE_NOT_FOUND', 'FILE_CONFLICT', 'FILE_FAILED'].some(
    (code) => isHoldfastError(error) && error.code === code,
  )
}
