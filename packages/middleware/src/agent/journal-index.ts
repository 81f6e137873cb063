import type { HoldfastStores } from '@holdfast/core'

/** Which threads have journals in their sandbox, so that a reaper finds those that can go without asking every sandbox. */
const NAMESPACE = 'holdfast-journals'
const KEY = 'threads'
const LOCK = 'holdfast-journals'

/** Without a reaper the list would only grow. A journal that is forgotten goes with its sandbox, or with a later one's. */
const MAX_ENTRIES = 1_000

/** A thread with journals, and where its sandbox keeps them when that is not the usual place. */
export interface JournalEntry {
  threadId: string
  dir?: string
  /** How often its sandbox could not be asked. */
  attempts?: number
}

type IndexStores = Pick<HoldfastStores, 'metadata' | 'locks'>

/** The one that was noted first comes first. */
export async function listJournalEntries({ metadata }: Pick<HoldfastStores, 'metadata'>): Promise<JournalEntry[]> {
  return ((await metadata.get(NAMESPACE, KEY)) as JournalEntry[] | null) ?? []
}

/** Repeatable. */
export async function addJournalEntry(stores: IndexStores, entry: JournalEntry): Promise<void> {
  if ((await listJournalEntries(stores)).some((known) => isSame(known, entry))) return
  await change(stores, (entries) => [...entries.filter((known) => !isSame(known, entry)), entry].slice(-MAX_ENTRIES))
}

/** Repeatable. */
export function removeJournalEntry(stores: IndexStores, entry: JournalEntry): Promise<void> {
  return change(stores, (entries) => entries.filter((known) => !isSame(known, entry)))
}

function isSame(one: JournalEntry, other: JournalEntry): boolean {
  return one.threadId === other.threadId && one.dir === other.dir
}

async function change(stores: IndexStores, to: (entries: JournalEntry[]) => JournalEntry[]): Promise<void> {
  await stores.locks.withLock(LOCK, async () => {
    await stores.metadata.set(NAMESPACE, KEY, to(await listJournalEntries(stores)))
  })
}
