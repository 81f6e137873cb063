import type { HoldfastStores } from '@holdfast/core'
import { pruneJournals as pruneJournalFiles } from '@holdfast/core/provider-kit'
import type { PruneJournalsInput as PruneFilesInput, PruneJournalsResult } from '@holdfast/core/provider-kit'
import { JOURNAL_NAMESPACE } from './agent-journal.ts'

/** Which sandbox's journals are looked at, and the store that says which runs have ended. */
export interface PruneJournalsInput extends Omit<PruneFilesInput, 'findStatus'> {
  stores: Pick<HoldfastStores, 'runs' | 'metadata'>
}

/**
 * Removes the journals of one sandbox whose runs have ended, and what is stored to read them with. A journal whose run
 * has not provably ended is kept, with the reason. Repeatable. Rejects when the sandbox cannot be asked.
 */
export async function pruneJournals({ stores, ...input }: PruneJournalsInput): Promise<PruneJournalsResult> {
  const findStatus: PruneFilesInput['findStatus'] = async (runId) => (await stores.runs.get(runId))?.status ?? null
  const result = await pruneJournalFiles({ ...input, findStatus })
  for (const runId of result.removed) await stores.metadata.delete(JOURNAL_NAMESPACE, runId)
  return result
}
