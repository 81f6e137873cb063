import { shellQuote } from '@holdfast/core/provider-kit'
import { shellLine } from '../script/shell-line.ts'

export interface FileScriptInput {
  nonce: string
  /** Must be free of links. */
  workspaceRoot: string
  stateDir: string
  /** Files of ours that are not needed any more. */
  finished: readonly string[]
  /** Shell text of the call, made of the functions below. */
  body: string
}

/**
 * A file call as one request. Links are followed by hand up to the workspace's edge; one that leads out of it ends the
 * call. A call ends with `ok` or with one of the words `absent`, `conflict`, `outside`, `failed`.
 */
export function fileScript(input: FileScriptInput): string {
  const { finished } = input
  const forget = finished.length === 0 ? ':' : `rm -f ${finished.map((name) => `"$s/up/${name}"`).join(' ')}`
  return shellLine(
    [
      `n=${input.nonce}; w=${shellQuote(input.workspaceRoot)}; s=${shellQuote(input.stateDir)}; exec </dev/null`,
      forget,
      'end() { printf \'@%s %s -\\n\' "$n" "$1"; exit 0; }',
      "put() { printf '@%s %s ' \"$n\" \"$1\"; base64 | tr -d '\\n'; printf '\\n'; }",
      WALK,
      MISS,
      PARENT,
      input.body,
      'end ok',
    ].join('\n'),
  )
}

/** `walk <path> <1|0>` sets `r` to the path with its links followed, the last one too when the second word is 1. */
const WALK = [
  'walk() { r=$w; hf_t=${1#"$w"}; hf_t=${hf_t#/}',
  'while [ -n "$hf_t" ]; do hf_c=${hf_t%%/*}; case $hf_t in */*) hf_t=${hf_t#*/};; *) hf_t=;; esac',
  'if [ -L "$r/$hf_c" ] && { [ -n "$hf_t" ] || [ "$2" = 1 ]; }; then',
  'hf_l=$(realpath -m -- "$r/$hf_c" 2>/dev/null || readlink -f -- "$r/$hf_c" 2>/dev/null; printf .); hf_l=${hf_l%.}',
  // Nothing comes of a link that leads to itself.
  'hf_l=${hf_l%?}; [ -n "$hf_l" ] && [ ! -L "$hf_l" ] || end failed',
  'case "$hf_l/" in "$w/"*) r=$hf_l;; *) end outside;; esac',
  'else r="$r/$hf_c"; fi; done; }',
].join('\n')

/** `miss <path>` ends the call for a path that is not there. */
const MISS = [
  'miss() { hf_m=${1%/*}; while [ -n "$hf_m" ] && [ ! -e "$hf_m" ]; do hf_m=${hf_m%/*}; done',
  '[ -d "${hf_m:-/}" ] && end absent; end conflict; }',
].join('\n')

/** `parent <path>` makes the directories above it. */
const PARENT = [
  'parent() { hf_d=${1%/*}; [ -n "$hf_d" ] || hf_d=/; [ -d "$hf_d" ] || mkdir -p -- "$hf_d" 2>/dev/null || {',
  'while [ -n "$hf_d" ] && [ ! -e "$hf_d" ]; do hf_d=${hf_d%/*}; done; [ -d "${hf_d:-/}" ] && end failed; end conflict; }; }',
].join('\n')
