import { assertCheckpoint, InvalidInputError, ProviderError } from '@holdfast/core'
import type { BlobStore, CheckpointEntry, CheckpointReportEntry, SandboxCheckpoint } from '@holdfast/core'
import type { ArchiveEntry } from '@holdfast/core/provider-kit'
import { PRIVATE_DIR } from '../../definition/workspace-marker.ts'
import type { CheckpointLimits } from '../policy/checkpoint-limits.ts'
import { PathPolicy } from '../policy/path-policy.ts'
import { RESTORING, writeSentinel } from '../sentinel.ts'
import type { CheckpointWorkspace } from '../workspace/checkpoint-workspace.ts'
import { listWorkspace } from '../workspace/list-workspace.ts'
import type { WorkspaceListing } from '../workspace/workspace-entry.ts'
import { clearPaths, writeFiles } from '../workspace/write-files.ts'
import { CheckpointBlobs } from './checkpoint-blobs.ts'
import { contentHashes } from './content-hashes.ts'
import { addParents, doubtfulFiles, hashOf, planRestore, RestoreTarget } from './restore-plan.ts'

type FileEntry = Extract<CheckpointEntry, { kind: 'file' }>

const DEFAULT_FILE_MODE = 0o644
const DEFAULT_DIR_MODE = 0o755

export interface RestoreInput {
  workspace: CheckpointWorkspace
  checkpoint: SandboxCheckpoint
  blobs: BlobStore
  limits: CheckpointLimits
}

/** What a restore wrote, removed and left out. */
export interface RestoredWorkspace {
  readonly written: number
  readonly removed: number
  /** What this sandbox cannot hold. */
  readonly report: CheckpointReportEntry[]
}

/**
 * Makes the workspace what the checkpoint says, inside its policy: adds, replaces, removes, changes kinds and modes.
 * Checkpoint and contents are verified before the first write, and the workspace afterwards. A crash in the middle leaves
 * a workspace whose sentinel says so. Repeatable.
 *
 * `SANDBOX_SNAPSHOT_INVALID_ENTRY`, `SANDBOX_SNAPSHOT_MISSING_BLOB` and `SANDBOX_SNAPSHOT_INVALID_BLOB` before anything is
 * written; `SANDBOX_SNAPSHOT_INVALID_WORKSPACE` when the result is not what it should be.
 */
export async function restoreWorkspace(input: RestoreInput): Promise<RestoredWorkspace> {
  const { workspace, checkpoint, limits } = input
  const policy = new PathPolicy(checkpoint.policy)
  assertRestorable(checkpoint, policy)
  const report: CheckpointReportEntry[] = []
  const target = targetFor(input, policy, report)
  const listing = await listWorkspace(workspace, policy, limits)
  const doubtful = doubtfulFiles(target, listing).map(({ path }) => path)
  const plan = planRestore(target, listing, await contentHashes(workspace, doubtful))
  const blobs = new CheckpointBlobs(input.blobs)
  await blobs.assertStored(checkpoint.files.filter(isFile))
  await blobs.verify(plan.write.filter(isFile))
  if (plan.write.length + plan.removed > 0) {
    await writeSentinel(workspace, RESTORING)
    await clearPaths(workspace, plan.clear)
    if (plan.write.length > 0) await writeFiles(workspace, archiveEntries(plan.write, blobs))
    await assertRestored(input, target, plan.write.filter(isFile))
  }
  await writeSentinel(workspace, { checkpoint: checkpoint.id, parent: null })
  return { written: plan.write.length, removed: plan.removed, report }
}

/** A checkpoint may come from anywhere. What its own policy leaves out is not written, and what is ours never. */
function assertRestorable(checkpoint: SandboxCheckpoint, policy: PathPolicy): void {
  assertCheckpoint(checkpoint)
  for (const { path } of checkpoint.files) {
    const isOurs = path === PRIVATE_DIR || path.startsWith(`${PRIVATE_DIR}/`)
    if (!isOurs && (checkpoint.policy === undefined || policy.covers(path))) continue
    const message = `Checkpoint ${checkpoint.id} holds ${JSON.stringify(path)}, which its policy leaves out. Nothing was restored.`
    throw new InvalidInputError('SANDBOX_SNAPSHOT_INVALID_ENTRY', message, { details: { path } })
  }
}

function targetFor(
  { workspace, checkpoint }: RestoreInput,
  policy: PathPolicy,
  report: CheckpointReportEntry[],
): RestoreTarget {
  const { archive, capabilities, fs } = workspace.handle
  const entries = checkpoint.files.filter((entry) => {
    if (entry.kind !== 'symlink' || capabilities.symlinks === true) return true
    report.push({ path: entry.path, what: 'skipped', reason: 'this sandbox has no links' })
    return false
  })
  const comparesModes = archive !== undefined || fs.chmod !== undefined
  return new RestoreTarget({ checkpoint, entries, policy, comparesModes })
}

async function* archiveEntries(
  entries: readonly CheckpointEntry[],
  blobs: CheckpointBlobs,
): AsyncGenerator<ArchiveEntry, void, undefined> {
  for (const entry of entries) {
    if (entry.kind === 'symlink') yield entry
    else if (entry.kind === 'dir') yield { ...entry, mode: entry.mode ?? DEFAULT_DIR_MODE }
    else {
      const { path, size, mode = DEFAULT_FILE_MODE } = entry
      yield { path, kind: 'file', size, mode, body: await blobs.open(entry) }
    }
  }
}

async function assertRestored(
  { workspace, limits }: RestoreInput,
  target: RestoreTarget,
  written: readonly FileEntry[],
): Promise<void> {
  const listing = await listWorkspace(workspace, target.policy, limits)
  const paths = written.map(({ path }) => path)
  const hashes = await contentHashes(workspace, paths)
  const faults = [
    ...[...target.wanted.values()]
      .filter((entry) => !target.looksRight(entry, listing.entries.get(entry.path)))
      .map(({ path }) => path),
    ...written.filter((file) => hashes.get(file.path) !== hashOf(file)).map(({ path }) => path),
    ...surplus(target, listing),
  ]
  const [path] = faults
  if (path === undefined) return
  const message = `After the restore ${JSON.stringify(path)} is not what the checkpoint says (${faults.length} in all). Something in the sandbox still writes, or cannot hold it.`
  throw new ProviderError('SANDBOX_SNAPSHOT_INVALID_WORKSPACE', message, { details: { path, count: faults.length } })
}

/** What should have gone, but for directories that hold something the restore leaves alone. */
function surplus(target: RestoreTarget, listing: WorkspaceListing): string[] {
  const left = [...listing.entries.values()].filter((entry) => target.isSurplus(entry))
  const gone = new Set(left.map(({ path }) => path))
  const stays = [...listing.excluded, ...listing.unusable.map(({ path }) => path)]
  for (const { path } of listing.entries.values()) if (!gone.has(path)) stays.push(path)
  const needed = new Set<string>()
  for (const path of stays) addParents(needed, path)
  return left.filter(({ path, kind }) => kind !== 'dir' || !needed.has(path)).map(({ path }) => path)
}

function isFile(entry: CheckpointEntry): entry is FileEntry {
  return entry.kind === 'file'
}
