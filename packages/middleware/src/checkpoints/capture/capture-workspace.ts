import { compareUtf8 } from '@holdfast/core'
import type { BlobStore, CheckpointEntry, CheckpointReportEntry } from '@holdfast/core'
import type { SecretRedactor } from '../../secrets/secret-redactor.ts'
import type { CheckpointLimits } from '../policy/checkpoint-limits.ts'
import type { PathPolicy } from '../policy/path-policy.ts'
import type { Sentinel } from '../sentinel.ts'
import type { CheckpointWorkspace } from '../workspace/checkpoint-workspace.ts'
import { hashFiles } from '../workspace/hash-files.ts'
import { listWorkspace } from '../workspace/list-workspace.ts'
import type { WorkspaceEntry, WorkspaceListing } from '../workspace/workspace-entry.ts'
import { CaptureReport } from './capture-report.ts'
import { countChanged } from './count-changed.ts'
import { readContents } from './read-contents.ts'
import { selectEntries } from './select-entries.ts'
import { stampOf } from './stat-cache.ts'
import type { FileStamps } from './stat-cache.ts'

export interface CaptureInput {
  workspace: CheckpointWorkspace
  policy: PathPolicy
  limits: CheckpointLimits
  redactor: SecretRedactor
  blobs: BlobStore
  /** The files of the thread's head. */
  parent: readonly CheckpointEntry[]
  /** How they looked when they were saved. */
  stamps: FileStamps
  /** Told to the sandbox before it is looked at. */
  sentinel?: Sentinel
}

export interface CapturedWorkspace {
  readonly files: CheckpointEntry[]
  readonly report: CheckpointReportEntry[]
  readonly sizes: { files: number; bytes: number; addedBytes: number; changedFiles: number }
  readonly stamps: FileStamps
}

type FileEntry = Extract<CheckpointEntry, { kind: 'file' }>

/**
 * The workspace's files, links and directories inside the policy: one request to list, one to hash what may have changed,
 * a few to fetch what has. What cannot be kept is reported and never fails the capture. `LIMIT_EXCEEDED`, `SECRET_FOUND`,
 * `SANDBOX_SNAPSHOT_INVALID_WORKSPACE`, and the codes of sandbox and blob store.
 */
export async function captureWorkspace(input: CaptureInput): Promise<CapturedWorkspace> {
  const { workspace, policy, limits, redactor } = input
  const report = new CaptureReport(redactor)
  const listing = await listWorkspace(workspace, policy, limits, input.sentinel)
  const selected = selectEntries({ listing, policy, limits, redactor, report })
  const kept = await findUnchanged(input, listing, selected.files)
  const changed = selected.files.filter(({ path }) => !kept.has(path))
  const read = await readContents(
    { workspace, limits, redactor, blobs: input.blobs, onSecret: policy.stored.onSecret, report },
    changed,
  )
  const files = [...selected.others, ...kept.values(), ...read.files.values()]
  files.sort((a, b) => compareUtf8(a.path, b.path))
  return {
    files,
    report: report.entries(),
    sizes: {
      files: kept.size + read.files.size,
      bytes: files.reduce((sum, entry) => sum + (entry.kind === 'file' ? entry.size : 0), 0),
      addedBytes: read.addedBytes,
      changedFiles: countChanged(input.parent, files),
    },
    stamps: stampsOf(listing, selected.files, read.unsettled),
  }
}

/**
 * Files that are what the parent has at the same path, and whose bytes are still stored. A hash from the sandbox is
 * believed for this alone: it can only bring back what this thread stored before.
 */
async function findUnchanged(
  { workspace, parent, stamps, blobs }: CaptureInput,
  listing: WorkspaceListing,
  files: readonly WorkspaceEntry[],
): Promise<Map<string, FileEntry>> {
  const before = new Map<string, FileEntry>()
  for (const entry of parent) if (entry.kind === 'file') before.set(entry.path, entry)
  const unchanged = new Map<string, FileEntry>()
  const doubtful: WorkspaceEntry[] = []
  for (const file of files) {
    const known = before.get(file.path)
    if (known === undefined) continue
    const stamp = stampOf(file, listing)
    if (stamp !== undefined && stamps.get(file.path) === stamp) unchanged.set(file.path, { ...known, mode: file.mode })
    else if (known.size === file.size) doubtful.push(file)
  }
  const hashes = await hashFiles(
    workspace,
    doubtful.map(({ path }) => path),
  )
  for (const { path, mode } of doubtful) {
    const known = before.get(path) as FileEntry
    if (known.blobKey.endsWith(`/${hashes?.get(path) ?? 'unknown'}`)) unchanged.set(path, { ...known, mode })
  }
  return onlyStored(blobs, unchanged)
}

/** What was lost from the store is read again. Asking also keeps the rest from being collected. */
async function onlyStored(blobs: BlobStore, files: Map<string, FileEntry>): Promise<Map<string, FileEntry>> {
  if (blobs.headMany === undefined || files.size === 0) return files
  const stored = await blobs.headMany([...new Set([...files.values()].map(({ blobKey }) => blobKey))])
  return new Map([...files].filter(([, { blobKey }]) => stored.has(blobKey)))
}

function stampsOf(
  listing: WorkspaceListing,
  files: readonly WorkspaceEntry[],
  unsettled: ReadonlySet<string>,
): FileStamps {
  const stamps = new Map<string, string>()
  for (const file of files) {
    const stamp = unsettled.has(file.path) ? undefined : stampOf(file, listing)
    if (stamp !== undefined) stamps.set(file.path, stamp)
  }
  return stamps
}
