import type { Clock, HoldfastStores, SandboxInstanceRecord } from '@holdfast/core'
import { runWithDeadline } from '@holdfast/core/provider-kit'
import type { PruneJournalsResult } from '@holdfast/core/provider-kit'
import { addJournalEntry, listJournalEntries, removeJournalEntry } from '../agent/journal-index.ts'
import type { JournalEntry } from '../agent/journal-index.ts'
import { pruneJournals } from '../agent/prune-journals.ts'
import type { SandboxDefinition } from '../definition/sandbox-definition.ts'
import { toRunError } from '../runs/run-error.ts'
import type { JournalOutcome } from './journal-outcome.ts'
import { isOwnRow } from './reclaim-sandbox.ts'

export interface PruneIdleJournalsInput {
  stores: HoldfastStores
  sandbox: SandboxDefinition
  clock: Clock
  /** Most sandboxes asked. */
  limit: number
}

const TIMEOUT_MS = 30_000

/** A sandbox that cannot be asked so often is left alone: its journals go after its next run, or with it. */
const MAX_ATTEMPTS = 5

/**
 * Removes the journals of ended runs from sandboxes in which nothing goes on, once after their last run: a sandbox that
 * has none is never asked. Those of a definition that stops its sandboxes after a run are left, since asking would start
 * them. Ends at the first sandbox that fails, because the service may be away.
 */
export async function pruneIdleJournals(input: PruneIdleJournalsInput): Promise<JournalOutcome[]> {
  const { stores, sandbox, limit } = input
  const outcomes: JournalOutcome[] = []
  if (!sandbox.lifecycle.keepAlive) return outcomes
  for (const entry of await listJournalEntries(stores)) {
    if (outcomes.length >= limit || outcomes.at(-1)?.outcome === 'failed') break
    outcomes.push(...(await pruneThread(input, entry)))
  }
  return outcomes
}

async function pruneThread(input: PruneIdleJournalsInput, entry: JournalEntry): Promise<JournalOutcome[]> {
  const { stores, sandbox } = input
  const rows = await rowsOf(stores, entry.threadId)
  // What is another definition's is left to a reaper that has it.
  if (rows.length > 0 && !rows.some((row) => isOwnRow(sandbox, row))) return []
  if (await isActive(stores, entry.threadId)) return []
  // Before the look, so that a run that begins meanwhile notes the thread anew.
  await removeJournalEntry(stores, entry)
  const outcomes: JournalOutcome[] = []
  for (const row of rows) {
    if ((row.state ?? 'ready') === 'ready' && isOwnRow(sandbox, row))
      outcomes.push(await pruneSandbox(input, entry, row))
  }
  return outcomes
}

async function pruneSandbox(
  { stores, sandbox, clock }: PruneIdleJournalsInput,
  entry: JournalEntry,
  { threadId, providerSandboxId: sandboxId }: SandboxInstanceRecord,
): Promise<JournalOutcome> {
  const named = { threadId, sandboxId }
  const { dir } = entry
  try {
    const result = await runWithDeadline(
      { operation: 'journal pruning', timeoutMs: TIMEOUT_MS, clock },
      async (signal) => {
        const handle = await sandbox.provider.resume({ id: sandboxId, signal })
        return handle === null ? null : pruneJournals({ stores, handle, signal, ...(dir === undefined ? {} : { dir }) })
      },
    )
    if (result === null) return { ...named, outcome: 'gone', removed: [] }
    if (await isUnfinished(stores, threadId, result)) await addJournalEntry(stores, entry)
    return { ...named, outcome: 'pruned', removed: result.removed }
  } catch (error) {
    const attempts = (entry.attempts ?? 0) + 1
    if (attempts < MAX_ATTEMPTS) await addJournalEntry(stores, { ...entry, attempts })
    return { ...named, outcome: 'failed', removed: [], error: toRunError(error) }
  }
}

/** Whether another look is worth it. A run that pauses notes its thread again when it goes on. */
async function isUnfinished(stores: HoldfastStores, threadId: string, { kept }: PruneJournalsResult): Promise<boolean> {
  if (kept.some(({ reason }) => reason === 'over-cap' || reason === 'lookup-failed')) return true
  return kept.some(({ reason }) => reason === 'not-terminal') && (await isActive(stores, threadId))
}

async function isActive({ runs }: HoldfastStores, threadId: string): Promise<boolean> {
  return ((await runs.findActiveRun?.(threadId)) ?? null) !== null
}

async function rowsOf(stores: HoldfastStores, threadId: string): Promise<SandboxInstanceRecord[]> {
  const rows: SandboxInstanceRecord[] = []
  let cursor: string | undefined
  do {
    const page = await stores.instances.list?.({ threadId, ...(cursor === undefined ? {} : { cursor }) })
    rows.push(...(page?.records ?? []))
    cursor = page?.cursor
  } while (cursor !== undefined)
  return rows
}
