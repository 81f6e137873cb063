import { isHoldfastError } from '@holdfast/core'
import { writeArchive } from '@holdfast/core/provider-kit'
import type { ArchiveEntry } from '@holdfast/core/provider-kit'
import type { CheckpointWorkspace } from './checkpoint-workspace.ts'

/** Writes entries over what is there, in few requests where the sandbox unpacks archives. Never through a link. */
export async function writeFiles(workspace: CheckpointWorkspace, entries: AsyncIterable<ArchiveEntry>): Promise<void> {
  const { handle, signal } = workspace
  if (handle.archive === undefined) return writeOneByOne(workspace, entries)
  await handle.archive.unpack(writeArchive(atRoot(workspace, entries)), signal === undefined ? {} : { signal })
}

async function* atRoot(
  workspace: CheckpointWorkspace,
  entries: AsyncIterable<ArchiveEntry>,
): AsyncGenerator<ArchiveEntry, void, undefined> {
  for await (const entry of entries) yield { ...entry, path: workspace.toArchivePath(entry.path) }
}

/** Modes of directories come last, innermost first, so that one without write permission still gets what it holds. */
async function writeOneByOne(workspace: CheckpointWorkspace, entries: AsyncIterable<ArchiveEntry>): Promise<void> {
  const { fs } = workspace.handle
  const dirs: { path: string; mode: number }[] = []
  for await (const entry of entries) {
    workspace.signal?.throwIfAborted()
    const path = workspace.absolute(entry.path)
    if (entry.kind === 'dir') {
      await fs.mkdir(path)
      dirs.push({ path, mode: entry.mode })
    } else if (entry.kind === 'symlink') {
      await fs.mkdir(path.slice(0, path.lastIndexOf('/')))
      await fs.remove(path)
      await fs.symlink?.(entry.target, path)
    } else {
      const bytes = new Uint8Array(await new Response(entry.body).arrayBuffer())
      if ((await fs.lstat?.(path))?.type === 'symlink') await fs.remove(path)
      await fs.write(path, bytes)
      await fs.chmod?.(path, entry.mode)
    }
  }
  for (const { path, mode } of dirs.toSorted((a, b) => b.path.length - a.path.length)) await fs.chmod?.(path, mode)
}

/** What is to go, and which directories must be writable for what comes. Removing never leaves the workspace. */
export interface ClearingPlan {
  /** Directories to be opened for their owner, outermost first. */
  readonly opened: readonly string[]
  /** Files, links and the like. */
  readonly leaves: readonly string[]
  /** Directories that go with all they hold, because something else takes their place. */
  readonly trees: readonly string[]
  /** Directories that go if they are empty by then, innermost first. */
  readonly dirs: readonly string[]
}

const REMOVE = [
  'for item do path=./${item#*:}; case ${item%%:*} in',
  'w) chmod u+rwx "$path";;',
  'f) rm -f -- "$path";;',
  'x) chmod -R u+rwx "$path"; rm -rf -- "$path";;',
  'd) rmdir -- "$path";;',
  'esac 2>/dev/null; done; exit 0',
].join('\n')

/** Makes way. What could not be removed is found by whoever compares afterwards. */
export async function clearPaths(workspace: CheckpointWorkspace, plan: ClearingPlan): Promise<void> {
  const items = [
    ...plan.opened.map((path) => `w:${path}`),
    ...plan.leaves.map((path) => `f:${path}`),
    ...plan.trees.map((path) => `x:${path}`),
    ...plan.dirs.map((path) => `d:${path}`),
  ]
  if (items.length === 0) return
  if (workspace.handle.capabilities.exec && (await clearByScript(workspace, items))) return
  await clearOneByOne(workspace, plan)
}

async function clearByScript(workspace: CheckpointWorkspace, items: readonly string[]): Promise<boolean> {
  const script = `command -v xargs >/dev/null 2>&1 || exit 69; xargs -0 sh -c '${REMOVE}' sh`
  const { exitCode } = await workspace.exec(script, items)
  return exitCode !== 69
}

async function clearOneByOne(workspace: CheckpointWorkspace, plan: ClearingPlan): Promise<void> {
  const { fs } = workspace.handle
  for (const path of [...plan.leaves, ...plan.trees]) await fs.remove(workspace.absolute(path))
  for (const path of plan.dirs) {
    try {
      if ((await fs.list(workspace.absolute(path))).length === 0) await fs.remove(workspace.absolute(path))
    } catch (error) {
      if (!isHoldfastError(error, 'FILE_NOT_FOUND')) throw error
    }
  }
}
