import { shellQuote } from '@holdfast/core/provider-kit'
import { printFrame, shellLine } from './shell-line.ts'

export interface KillScriptInput {
  nonce: string
  stateDir: string
  /** Name or number as `kill -s` takes it. */
  signal: string
  /** How long the processes may take before SIGKILL. */
  graceMs: number
  /** False for a terminal, which has a mark and no run. */
  isRun?: boolean
}

/**
 * Ends every process of a run: those that carry its mark in their environment, wherever they moved themselves, and the
 * run's own process group. Prints `g` when none is left, `r` when some remain. A run that has not begun never will.
 */
export function killScript(input: KillScriptInput): string {
  const rounds = Math.max(1, Math.ceil(input.graceMs / 50))
  return shellLine(
    [
      `n=${input.nonce}; d=${shellQuote(input.stateDir)}"/run/$n"; umask 077; exec </dev/null`,
      input.isRun === false
        ? ':'
        : `mkdir -p "\${d%/*}"; if mkdir "$d" 2>/dev/null; then : >"$d/killed"; ${printFrame('g', '-')}; exit 0; fi`,
      'hf_i=0; while [ -d "$d" ] && [ ! -s "$d/pid" ] && [ ! -s "$d/code" ] && [ ! -e "$d/killed" ] && [ "$hf_i" -lt 100 ]; do',
      'hf_i=$((hf_i+1)); sleep 0.02; done',
      'hf_p=; [ ! -s "$d/pid" ] || read -r hf_p <"$d/pid"',
      'marked() { hf_m=; for hf_f in $(grep -l "HOLDFAST_RUN=$n" /proc/[0-9]*/environ 2>/dev/null); do',
      'hf_f=${hf_f#/proc/}; hf_m="$hf_m ${hf_f%/environ}"; done; }',
      'strike() { [ -z "$hf_p" ] || kill -s "$1" -- "-$hf_p" 2>/dev/null',
      'for hf_f in $hf_m; do kill -s "$1" "$hf_f" 2>/dev/null; done; }',
      `marked; strike ${shellQuote(input.signal)}; hf_i=0`,
      'while :; do marked; if [ -z "$hf_m" ]; then sleep 0.02; marked; fi; [ -n "$hf_m" ] || break',
      `hf_i=$((hf_i+1)); [ "$hf_i" -lt ${rounds + 40} ] || break`,
      `if [ "$hf_i" -ge ${rounds} ]; then strike KILL; sleep 0.02; else sleep 0.05; fi; done`,
      'hf_i=0; while [ -d "$d" ] && [ ! -s "$d/code" ] && [ -z "$hf_m" ] && [ "$hf_i" -lt 20 ]; do hf_i=$((hf_i+1)); sleep 0.02; done',
      `if [ -n "$hf_m" ]; then ${printFrame('r', '-')}; else ${printFrame('g', '-')}; fi`,
    ].join('\n'),
  )
}
