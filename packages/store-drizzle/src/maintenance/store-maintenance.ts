import type { Database } from '../database/database.ts'
import { number, text } from '../database/row.ts'
import { quoteIdentifier } from '../database/statement.ts'
import type { FileBlobStore } from '../content/file-blob-store.ts'
import { countRecords, sizeTables } from '../statements/store-status.ts'
import { pruneRecords } from './prune-records.ts'
import type { PruneInput, PruneResult } from './prune-records.ts'
import { pruneFileBlobs } from './prune-file-blobs.ts'

/** Counts and sizes, for operators. */
export interface StoreStatus {
  /** The database's time, epoch milliseconds. */
  now: number
  /** Records by kind: runs, open logs, leases, checkpoints, blobs. */
  counts: Record<string, number>
  /** Bytes by table, indexes included, largest first. */
  tableBytes: Record<string, number>
}

/** What an operator does with the stores. */
export interface StoreMaintenance {
  status: () => Promise<StoreStatus>
  /** Removes what the rules do not keep. With `dryRun` it removes nothing and answers what it would have removed. */
  prune: (input: PruneInput) => Promise<PruneResult>
}

export function storeMaintenance(db: Database, schema: string, files?: FileBlobStore): StoreMaintenance {
  return {
    status: () => readStatus(db, schema),
    prune: async (input) => {
      const result = await pruneRecords(db, input)
      const { graceMs } = input.blobs ?? {}
      if (files === undefined || graceMs === undefined) return result
      const collected = await pruneFileBlobs(db, files, { graceMs, dryRun: input.dryRun === true })
      return { ...result, blobs: result.blobs + collected.blobs, blobBytes: result.blobBytes + collected.bytes }
    },
  }
}

async function readStatus(db: Database, schema: string): Promise<StoreStatus> {
  const { now, ...counts } = (await db.row(countRecords)) ?? {}
  const sizes = await db.rows(sizeTables, [quoteIdentifier(schema)])
  return {
    now: Number(now),
    counts: Object.fromEntries(Object.entries(counts).map(([name, value]) => [name, Number(value)])),
    tableBytes: Object.fromEntries(sizes.map((row) => [text(row, 'table_name'), number(row, 'bytes')])),
  }
}
