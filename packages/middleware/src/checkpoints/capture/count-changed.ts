import type { CheckpointEntry } from '@holdfast/core'

/** Equal for entries that say the same of their path. */
export function entryFingerprint(entry: CheckpointEntry): string {
  if (entry.kind === 'symlink') return JSON.stringify([entry.kind, entry.target])
  return JSON.stringify([entry.kind, entry.mode ?? null, entry.kind === 'file' ? entry.blobKey : null])
}

/** How many files and links were added, removed or changed. */
export function countChanged(before: readonly CheckpointEntry[], after: readonly CheckpointEntry[]): number {
  const old = new Map<string, string>()
  for (const entry of before) if (entry.kind !== 'dir') old.set(entry.path, entryFingerprint(entry))
  let changed = 0
  for (const entry of after) {
    if (entry.kind === 'dir') continue
    if (old.get(entry.path) !== entryFingerprint(entry)) changed += 1
    old.delete(entry.path)
  }
  return changed + old.size
}
