import { PRINT_MARKER } from './journal-marker.ts'
import { START_OF } from './journal-liveness.ts'

/** Tells a command where its prompt is. */
export const PROMPT_FILE_VARIABLE = 'HOLDFAST_PROMPT_FILE'
/** Set for the command and what it starts, so that `stopJournal` finds what left the process group. */
export const JOURNAL_VARIABLE = 'HOLDFAST_JOURNAL'

/**
 * Runs the command in a process group of its own and writes the exit marker. It is no member of that group, so a kill
 * of the command leaves it to tell. The nonce comes on standard input: it is in no argument, variable or file of its
 * own.
 *
 * Arguments: beginning of the file names, working directory, umask, command, token, `stdin`, `file` or `none`.
 */
export const SUPERVISOR_SCRIPT = [
  'b=$1; IFS= read -r n; exec </dev/null >/dev/null 2>&1; trap "" HUP',
  START_OF,
  `cd "$2" || exit 1; export ${JOURNAL_VARIABLE}="$5"; in=/dev/null; [ "$6" != stdin ] || in=$b.in`,
  `[ "$6" != file ] || export ${PROMPT_FILE_VARIABLE}="$b.in"`,
  // Without setsid, job control gives the command its own group where the shell can.
  'own=$(command -v setsid) || set -m; umask "$3"; trap - HUP',
  '$own sh -c "$4" <"$in" >>"$b.out" 2>>"$b.err" &',
  'p=$!; trap "" HUP; umask 077',
  'echo "$$ $(startOf $$) $p $(startOf "$p")" >"$b.pid.new"; mv "$b.pid.new" "$b.pid"',
  'wait "$p"; c=$?',
  // A full disk may have room again.
  `i=0; until ${PRINT_MARKER} >>"$b.out"; do i=$((i+1)); [ "$i" -lt 30 ] || exit 1; sleep 1; done`,
].join('\n')
