import { createHash } from 'node:crypto'
import type { CheckpointEntry, MetadataStore, SandboxCheckpoint } from '@holdfast/core'
import type { WorkspaceEntry, WorkspaceListing } from '../workspace/workspace-entry.ts'

const NAMESPACE = 'holdfast.checkpoint-stamps'
const STAMP_CHARACTERS = 8
const NO_STAMP = '-'.repeat(STAMP_CHARACTERS)
/** A file that changed this short a time before it was listed may change again without a new stamp. */
const RACY_SECONDS = 2

/** How the files of a thread's latest checkpoint looked in the sandbox they were read from. One row a thread. */
interface StatCacheRow {
  checkpointId: string
  sandboxId: string
  root: string
  /** One stamp of fixed length for each file of the checkpoint, in its order. */
  stamps: string
}

export type FileStamps = ReadonlyMap<string, string>

/** Stamps by path, when they are of this checkpoint and this sandbox; else none. */
export async function loadStamps(
  metadata: MetadataStore,
  parent: SandboxCheckpoint,
  place: { sandboxId: string; root: string },
): Promise<FileStamps> {
  const row = (await metadata.get(NAMESPACE, parent.threadId)) as StatCacheRow | null
  const stamps = new Map<string, string>()
  const isFitting = row?.checkpointId === parent.id && row.sandboxId === place.sandboxId && row.root === place.root
  if (!isFitting || typeof row.stamps !== 'string') return stamps
  let at = 0
  for (const entry of parent.files) {
    if (entry.kind !== 'file') continue
    const stamp = row.stamps.slice(at, at + STAMP_CHARACTERS)
    at += STAMP_CHARACTERS
    if (stamp !== NO_STAMP) stamps.set(entry.path, stamp)
  }
  return stamps
}

export async function saveStamps(
  metadata: MetadataStore,
  checkpoint: SandboxCheckpoint,
  place: { sandboxId: string; root: string },
  stamps: FileStamps,
): Promise<void> {
  const files = checkpoint.files.filter((entry: CheckpointEntry) => entry.kind === 'file')
  const row: StatCacheRow = {
    checkpointId: checkpoint.id,
    ...place,
    stamps: files.map(({ path }) => stamps.get(path) ?? NO_STAMP).join(''),
  }
  await metadata.set(NAMESPACE, checkpoint.threadId, row)
}

export async function deleteStamps(metadata: MetadataStore, threadId: string): Promise<void> {
  await metadata.delete(NAMESPACE, threadId)
}

/** Undefined when equal stamps would not prove equal content. */
export function stampOf(entry: WorkspaceEntry, { startedAt }: Pick<WorkspaceListing, 'startedAt'>): string | undefined {
  const { stamp, changedAt } = entry
  if (stamp === undefined || changedAt === undefined || startedAt === undefined) return undefined
  if (changedAt >= startedAt - RACY_SECONDS) return undefined
  return createHash('sha256').update(stamp).digest('base64').slice(0, STAMP_CHARACTERS)
}
