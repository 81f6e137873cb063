import type { HoldfastStores } from '@holdfast/core'
import { newJournalNonce, startJournal } from '@holdfast/core/provider-kit'
import type { StartJournalInput } from '@holdfast/core/provider-kit'
import { addJournalEntry } from './journal-index.ts'

/** Where the nonce of a run's journal is kept, by run id. */
export const JOURNAL_NAMESPACE = 'holdfast-journal'

/** What a run's record says about the journal of its agent. */
export interface JournalRecord {
  nonce: string
  /** Whether the command was seen to run: from then on it is never started again, only read. */
  isStarted: boolean
}

/**
 * Makes sure that the run's command runs in the sandbox, or did, and answers its nonce. The nonce is stored before the
 * start, so that a successor of a host that dies in between starts the same journal, and so the command once. The thread
 * is noted for whoever prunes.
 */
export async function ensureJournal(
  stores: Pick<HoldfastStores, 'metadata' | 'locks'>,
  start: Omit<StartJournalInput, 'nonce'>,
  threadId: string | undefined,
): Promise<JournalRecord> {
  const { runId, dir } = start
  if (threadId !== undefined) await addJournalEntry(stores, { threadId, ...(dir === undefined ? {} : { dir }) })
  const record = (await findJournal(stores, runId)) ?? (await announceJournal(stores, runId))
  if (record.isStarted) return record
  await startJournal({ ...start, nonce: record.nonce })
  const started = { ...record, isStarted: true }
  await stores.metadata.set(JOURNAL_NAMESPACE, runId, started)
  return started
}

/** Null when the run has none. */
export async function findJournal(
  stores: Pick<HoldfastStores, 'metadata'>,
  runId: string,
): Promise<JournalRecord | null> {
  const value = await stores.metadata.get(JOURNAL_NAMESPACE, runId)
  if (typeof value !== 'object' || value === null) return null
  const nonce: unknown = Reflect.get(value, 'nonce')
  if (typeof nonce !== 'string') return null
  return { nonce, isStarted: Reflect.get(value, 'isStarted') === true }
}

/** What is read back counts: of two hosts that announce at once, one nonce stands. */
async function announceJournal(stores: Pick<HoldfastStores, 'metadata'>, runId: string): Promise<JournalRecord> {
  const record: JournalRecord = { nonce: newJournalNonce(), isStarted: false }
  await stores.metadata.set(JOURNAL_NAMESPACE, runId, record)
  return (await findJournal(stores, runId)) ?? record
}
