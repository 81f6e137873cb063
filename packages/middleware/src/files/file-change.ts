import type { FileListing } from './file-listing.ts'

export interface FileChange {
  readonly type: 'create' | 'change' | 'delete'
  /** Relative to the root. */
  readonly path: string
  /** Bytes; 0 for a file that is gone. */
  readonly size: number
}

/** What happened between two listings, by path. */
export function fileChanges(before: FileListing, after: FileListing): FileChange[] {
  const changes: FileChange[] = []
  for (const [path, { key, size }] of after) {
    const earlier = before.get(path)
    if (earlier === undefined) changes.push({ type: 'create', path, size })
    else if (earlier.key !== key) changes.push({ type: 'change', path, size })
  }
  for (const path of before.keys()) if (!after.has(path)) changes.push({ type: 'delete', path, size: 0 })
  return changes.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}
