import { encodeExactJson } from '@holdfast/core'
import type { BlobStore, CheckpointEntry, SandboxCheckpoint } from '@holdfast/core'
import type { ModelMessage } from '@tanstack/ai'
import { MAX_DIFFED_BYTES, unifiedDiff } from '../../files/unified-diff.ts'
import { entryFingerprint } from '../capture/count-changed.ts'

/** One path that differs, with a text diff where there is one. */
export interface CheckpointFileChange {
  readonly path: string
  readonly change: 'added' | 'removed' | 'changed'
  readonly before?: CheckpointEntry
  readonly after?: CheckpointEntry
  /** Unified text diff, where both sides are text that is not too large. */
  readonly diff?: string
  readonly truncated?: true
}

/** What lies between two checkpoints. */
export interface CheckpointDiff {
  readonly from: string
  readonly to: string
  readonly files: readonly CheckpointFileChange[]
  /** True when further changes are not listed. */
  readonly truncated: boolean
  readonly conversation: {
    /** So many messages at the beginning are the same. */
    readonly common: number
    readonly removed: readonly ModelMessage[]
    readonly added: readonly ModelMessage[]
  }
}

/** Changes beyond this are counted as truncated, contents beyond the second are named without a diff. */
const MAX_CHANGES = 1_000
const MAX_DIFFS = 100

/** What changed from one checkpoint to another. Directories are told of only where nothing else tells. */
export async function compareCheckpoints(
  blobs: BlobStore,
  from: SandboxCheckpoint,
  to: SandboxCheckpoint,
): Promise<CheckpointDiff> {
  const changes = changesOf(from.files, to.files)
  const files: CheckpointFileChange[] = []
  for (const [index, change] of changes.slice(0, MAX_CHANGES).entries()) {
    files.push(index < MAX_DIFFS ? { ...change, ...(await diffOf(blobs, change)) } : change)
  }
  return {
    from: from.id,
    to: to.id,
    files,
    truncated: changes.length > MAX_CHANGES,
    conversation: compareConversations(from.conversation, to.conversation),
  }
}

function changesOf(before: readonly CheckpointEntry[], after: readonly CheckpointEntry[]): CheckpointFileChange[] {
  const old = new Map(before.map((entry) => [entry.path, entry]))
  const changes: CheckpointFileChange[] = []
  for (const entry of after) {
    const earlier = old.get(entry.path)
    old.delete(entry.path)
    if (earlier === undefined) changes.push({ path: entry.path, change: 'added', after: entry })
    else if (entryFingerprint(earlier) !== entryFingerprint(entry)) {
      changes.push({ path: entry.path, change: 'changed', before: earlier, after: entry })
    }
  }
  for (const entry of old.values()) changes.push({ path: entry.path, change: 'removed', before: entry })
  return changes.filter((change) => !isMereDirectory(change)).toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

function isMereDirectory({ before, after }: CheckpointFileChange): boolean {
  return (before?.kind ?? 'dir') === 'dir' && (after?.kind ?? 'dir') === 'dir'
}

async function diffOf(
  blobs: BlobStore,
  { path, before, after, change }: CheckpointFileChange,
): Promise<{ diff?: string; truncated?: true }> {
  const [old, now] = [await textOf(blobs, before), await textOf(blobs, after)]
  if (old === undefined || now === undefined) return { truncated: true }
  const type = change === 'added' ? 'create' : change === 'removed' ? 'delete' : 'change'
  return old === now ? {} : unifiedDiff(path, old, now, type)
}

/** Undefined when it is too large, or gone. A link's text is its target. */
async function textOf(blobs: BlobStore, entry: CheckpointEntry | undefined): Promise<string | undefined> {
  if (entry === undefined || entry.kind === 'dir') return ''
  if (entry.kind === 'symlink') return entry.target
  if (entry.size > MAX_DIFFED_BYTES) return undefined
  return (await blobs.get(entry.blobKey))?.text()
}

function compareConversations(
  before: readonly ModelMessage[],
  after: readonly ModelMessage[],
): CheckpointDiff['conversation'] {
  let common = 0
  while (
    common < Math.min(before.length, after.length) &&
    encodeExactJson(before[common]) === encodeExactJson(after[common])
  ) {
    common += 1
  }
  return { common, removed: before.slice(common), added: after.slice(common) }
}
