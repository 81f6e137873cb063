import { ProviderError } from '../../errors/error-classes.ts'
import { assertMs } from '../../identifier.ts'
import { journalExec, journalFailed } from './journal-exec.ts'
import { START_OF } from './journal-liveness.ts'
import { locationLines } from './journal-location.ts'
import type { JournalLocation } from './journal-location.ts'
import { JOURNAL_VARIABLE } from './supervisor-script.ts'

const DEFAULT_GRACE_MS = 2_000
const LOOK_EVERY_MS = 50
/** Looks after SIGKILL before the rest counts as not to be ended. */
const KILL_LOOKS = 60

/**
 * Ends the command of a journal with everything it started: SIGTERM, after the grace SIGKILL. Resolves when none is
 * left; the journal then says how the command ended. A journal that is missing or over is fine. Repeatable.
 * `PROVIDER_FAILED` when some of it could not be ended.
 */
export async function stopJournal(input: JournalLocation & { graceMs?: number; signal?: AbortSignal }): Promise<void> {
  const graceMs = assertMs('graceMs', input.graceMs ?? DEFAULT_GRACE_MS)
  const result = await journalExec(input.handle, stopScript(input, graceMs), {
    operation: 'journal stop',
    timeoutMs: graceMs + 30_000,
    signal: input.signal,
  })
  if (result.exitCode !== 0) throw journalFailed('journal stop', result)
  if (result.stdout.trim() === 'gone') return
  throw new ProviderError('PROVIDER_FAILED', `Some processes of run ${input.runId} could not be ended.`, {
    details: { runId: input.runId },
    retryable: true,
  })
}

/**
 * The members are the command's process group and, where environments can be read, whatever carries the journal's mark.
 * A number that another process has by now is told by its time of start.
 */
function stopScript(location: JournalLocation, graceMs: number): string {
  const rounds = Math.ceil(graceMs / LOOK_EVERY_MS)
  return [
    locationLines(location),
    START_OF,
    '[ -s "$b.run" ] || { echo gone; exit 0; }',
    'read -r hf_token <"$b.run"; hf_g=; hf_at=',
    'hf_i=0; until [ -s "$b.pid" ] || [ "$hf_i" -ge 50 ]; do hf_i=$((hf_i+1)); sleep 0.02 2>/dev/null || sleep 1; done',
    '[ ! -s "$b.pid" ] || read -r hf_sup hf_supAt hf_g hf_at <"$b.pid"',
    // An ended leader may have left a group behind, so only a number that somebody else has now rules the group out.
    'hf_now=$(startOf "$hf_g" 2>/dev/null); [ -z "$hf_now" ] || [ "$hf_now" = "$hf_at" ] || hf_g=',
    `members() { hf_m=; for hf_f in $(grep -l "${JOURNAL_VARIABLE}=$hf_token" /proc/[0-9]*/environ 2>/dev/null); do`,
    'hf_f=${hf_f#/proc/}; hf_m="$hf_m ${hf_f%/environ}"; done',
    '[ -z "$hf_g" ] || ! kill -0 -- "-$hf_g" 2>/dev/null || hf_m="$hf_m -$hf_g"; }',
    'strike() { for hf_f in $hf_m; do kill -s "$1" -- "$hf_f" 2>/dev/null; done; }',
    'hf_i=0; members; [ -z "$hf_m" ] || strike TERM',
    `while members; [ -n "$hf_m" ] && [ "$hf_i" -lt ${rounds + KILL_LOOKS} ]; do hf_i=$((hf_i+1))`,
    `[ "$hf_i" -le ${rounds} ] || strike KILL; sleep 0.05 2>/dev/null || sleep 1; done`,
    'if [ -n "$hf_m" ]; then echo left; else echo gone; fi',
  ].join('\n')
}
