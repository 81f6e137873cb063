/** Whether the process that will write the exit marker still runs. */
export type JournalLiveness = 'alive' | 'dead' | 'starting'

export function isLiveness(value: unknown): value is JournalLiveness {
  return value === 'alive' || value === 'dead' || value === 'starting'
}

/** `startOf PID` prints when a process started, `0` where that cannot be known, and fails for one that is gone. */
export const START_OF = [
  'startOf() { if [ ! -r /proc/self/stat ]; then kill -0 "$1" 2>/dev/null || return 1; echo 0; return 0; fi',
  '{ IFS= read -r hf_s <"/proc/$1/stat"; } 2>/dev/null || return 1',
  // The second field, the name in parentheses, may hold anything.
  'set -- ${hf_s##*) }; [ "$1" != Z ] || return 1; echo "${20}"; }',
].join('\n')

/**
 * `liveness` puts a `JournalLiveness` into `$hf_l`. A process that got the same number later, after a restart of the
 * sandbox for example, started at another time.
 */
export const LIVENESS = [
  START_OF,
  'liveness() { hf_l=starting; [ -s "$b.pid" ] || return 0',
  'read -r hf_p hf_t hf_rest <"$b.pid"; hf_l=dead',
  'hf_now=$(startOf "$hf_p") || return 0; [ "$hf_now" != "$hf_t" ] || hf_l=alive; }',
].join('\n')
