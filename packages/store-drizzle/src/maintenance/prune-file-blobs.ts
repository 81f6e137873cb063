import type { Database } from '../database/database.ts'
import { text } from '../database/row.ts'
import type { FileBlobStore } from '../content/file-blob-store.ts'
import { listUnreferenced } from '../statements/prune.ts'

const AT_ONCE = 5_000

/** Removes files that nothing in the database names and that nobody touched lately. */
export async function pruneFileBlobs(
  db: Database,
  files: FileBlobStore,
  { graceMs, dryRun }: { graceMs: number; dryRun: boolean },
): Promise<{ blobs: number; bytes: number }> {
  const collected = { blobs: 0, bytes: 0 }
  const untouched = await files.listUntouched(graceMs)
  for (let from = 0; from < untouched.length; from += AT_ONCE) {
    const page = new Map(untouched.slice(from, from + AT_ONCE).map((record) => [record.key, record]))
    const rows = await db.rows(listUnreferenced, [JSON.stringify([...page.keys()])])
    for (const key of rows.map((row) => text(row, 'key'))) {
      if (!dryRun && !(await files.deleteUntouched(key, graceMs))) continue
      collected.blobs += 1
      collected.bytes += page.get(key)?.size ?? 0
    }
  }
  return collected
}
