import type { RunStatus } from '@tanstack/ai'
import { assertMs } from '../../identifier.ts'
import { shellQuote } from '../shell-quote.ts'
import { journalExec, journalFailed } from './journal-exec.ts'
import { directoryLines } from './journal-location.ts'
import type { JournalHandle } from './journal-location.ts'
import { journalName, runIdOfJournal } from './journal-name.ts'

/** Why a journal was kept. */
export type JournalKept =
  /** It runs, or waits for a person. */
  | 'not-terminal'
  /** No store knows the run, and the journal may be younger than its record. */
  | 'unknown-young'
  /** No store knows the run, and the sandbox does not say how old the journal is. */
  | 'unknown-age'
  | 'lookup-failed'
  /** The name is not one of ours. */
  | 'undecodable'
  /** More were ready to go than one sweep removes. */
  | 'over-cap'

/** Which sandbox's journals are looked at, and the store that says which runs have ended. */
export interface PruneJournalsInput {
  handle: JournalHandle
  dir?: string
  /** The status that the run store has; null when it has no such run. A rejection keeps the journal. */
  findStatus: (runId: string) => Promise<RunStatus | null>
  /** Age from which a journal of an unknown run goes. Default seven days. */
  unknownAfterMs?: number
  /** Most journals removed in one sweep. Default 100. */
  maxRemoved?: number
  signal?: AbortSignal
}

/** Which journals went, and which stayed. */
export interface PruneJournalsResult {
  /** Run ids. */
  removed: string[]
  /** `error`: what the look-up failed with. */
  kept: { name: string; reason: JournalKept; error?: unknown }[]
}

const UNKNOWN_AFTER_MS = 7 * 24 * 60 * 60 * 1_000
const MAX_REMOVED = 100

/**
 * Removes the journals of a sandbox that the store proves to be over: those of runs with a terminal status, and old
 * ones of runs that it does not know. Every other is kept, with the reason. Repeatable. Rejects when the sandbox cannot
 * be asked.
 */
export async function pruneJournals(input: PruneJournalsInput): Promise<PruneJournalsResult> {
  const { handle, signal, maxRemoved = MAX_REMOVED } = input
  const kept: PruneJournalsResult['kept'] = []
  const removed: string[] = []
  for (const journal of await listJournals(input)) {
    const runId = runIdOfJournal(journal.name)
    const why = runId === undefined ? UNDECODABLE : await whyKept(input, runId, journal.ageMs)
    if (runId === undefined || why !== undefined) kept.push({ name: journal.name, ...(why ?? UNDECODABLE) })
    else if (removed.length >= maxRemoved) kept.push({ name: journal.name, reason: 'over-cap' })
    else removed.push(runId)
  }
  if (removed.length > 0) await removeJournals(handle, input.dir, removed, signal)
  return { removed, kept }
}

type Why = Omit<PruneJournalsResult['kept'][number], 'name'>

const UNDECODABLE: Why = { reason: 'undecodable' }

async function whyKept(input: PruneJournalsInput, runId: string, ageMs: number | undefined): Promise<Why | undefined> {
  const unknownAfterMs = assertMs('unknownAfterMs', input.unknownAfterMs ?? UNKNOWN_AFTER_MS)
  let status: RunStatus | null
  try {
    status = await input.findStatus(runId)
  } catch (error) {
    return { reason: 'lookup-failed', error }
  }
  if (status !== null) {
    // Loaded here, so that adapters that import this kit do not pay for the engine.
    const { isTerminalRunStatus } = await import('@tanstack/ai')
    return isTerminalRunStatus(status) ? undefined : { reason: 'not-terminal' }
  }
  if (ageMs === undefined) return { reason: 'unknown-age' }
  return ageMs < unknownAfterMs ? { reason: 'unknown-young' } : undefined
}

interface ListedJournal {
  name: string
  /** By the sandbox's own clock; absent where its listing cannot be trusted. */
  ageMs?: number
}

/** A file made just now shows whether this `stat` gives seconds since 1970 at all. */
async function listJournals(input: PruneJournalsInput): Promise<ListedJournal[]> {
  const script = [
    directoryLines(input),
    '[ -d "$d" ] || exit 0; cd "$d" || exit 1',
    'now=$(date +%s); hf_new=.age.$$; : >"$hf_new" && t=$(stat -c %Y "$hf_new" 2>/dev/null); rm -f "$hf_new"',
    'case $t in ""|*[!0-9]*) t=0 ;; esac; ok=; [ $((now - t)) -gt 60 ] || [ $((t - now)) -gt 60 ] || ok=1',
    'for f in *.run; do [ -e "$f" ] || continue; a=-',
    // The output was written last.
    'g=${f%.run}.out; [ -e "$g" ] || g=$f',
    '[ -z "$ok" ] || { m=$(stat -c %Y "$g" 2>/dev/null) && a=$((now - m)); }',
    `printf '%s %s\\n' "$a" "$f"; done`,
  ].join('\n')
  const result = await journalExec(input.handle, script, { operation: 'journal listing', signal: input.signal })
  if (result.exitCode !== 0) throw journalFailed('journal listing', result)
  return result.stdout.split('\n').flatMap((line) => {
    const [, age = '-', name] = /^(-|-?\d+) (.*)\.run$/.exec(line) ?? []
    if (name === undefined) return []
    return [age === '-' ? { name } : { name, ageMs: Number(age) * 1_000 }]
  })
}

async function removeJournals(
  handle: JournalHandle,
  dir: string | undefined,
  runIds: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const names = runIds.map((runId) => shellQuote(journalName(runId))).join(' ')
  const script = [
    directoryLines(dir === undefined ? { handle } : { handle, dir }),
    // The claim goes last, so that a removal that was cut short is seen by the next sweep.
    `cd "$d" || exit 1; for f in ${names}; do`,
    'rm -f "$f.in" "$f.err" "$f.out" "$f.pid" "$f.pid.new" && rm -f "$f.run" || exit 1; done',
  ].join('\n')
  const result = await journalExec(handle, script, { operation: 'journal removal', signal })
  if (result.exitCode !== 0) throw journalFailed('journal removal', result)
}
