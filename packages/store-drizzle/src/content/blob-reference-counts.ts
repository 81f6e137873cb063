import type { Database } from '../database/database.ts'
import { number } from '../database/row.ts'
import { countNodeUses } from '../statements/count-node-uses.ts'
import { blobKeysOf } from './checkpoint-items.ts'
import type { CheckpointNodes } from './checkpoint-nodes.ts'

/** In how many checkpoints each key appears. Reads each distinct pair of lists once, however many checkpoints share it. */
export async function countBlobReferences(db: Database, nodes: CheckpointNodes): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const row of await db.rows(countNodeUses)) {
    const files = [...(await nodes.load(number(row, 'files_node'))).items]
    const artifacts = [...(await nodes.load(number(row, 'artifacts_node'))).items]
    const uses = number(row, 'uses')
    for (const key of blobKeysOf({ files, artifacts })) counts.set(key, (counts.get(key) ?? 0) + uses)
  }
  return counts
}
