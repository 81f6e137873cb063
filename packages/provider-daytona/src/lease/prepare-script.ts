import { shellQuote } from '@holdfast/core/provider-kit'
import { shellLine } from '../script/shell-line.ts'

export interface PrepareScriptInput {
  nonce: string
  workdir: string
  /** Written when there is none yet; `replace` writes it over what a template brought. */
  sentinel: string | undefined
  replaceSentinel: boolean
}

/**
 * Makes a sandbox ready in one request: the workspace, a private directory of ours beside it, the variables that a login
 * shell would set, and the sentinel. Prints where things are and which sentinel stands there now.
 */
export function prepareScript(input: PrepareScriptInput): string {
  return shellLine(
    [
      `n=${input.nonce}; exec </dev/null`,
      `put() { printf '@%s %s %s\\n' "$n" "$1" "$(printf %s "$2" | base64 | tr -d '\\n')"; }`,
      `w=${shellQuote(input.workdir)}; case $w in /*) ;; *) w="$PWD/$w";; esac`,
      'mkdir -p "$w" 2>/dev/null && w=$(cd "$w" 2>/dev/null && pwd -P) && [ -n "$w" ] || { put f workspace; exit 0; }',
      's="${w%/*}/.holdfast"; mkdir -p "$s/run" 2>/dev/null && [ -w "$s/run" ] || s="${HOME:-/tmp}/.holdfast"',
      'mkdir -p "$s/run" "$s/up" 2>/dev/null && chmod 700 "$s" || { put f state; exit 0; }',
      'find "$s/run" "$s/up" -mindepth 1 -maxdepth 1 -mmin +1440 -exec rm -rf {} + 2>/dev/null',
      'put w "$w"; put s "$s"; if command -v bash >/dev/null 2>&1; then l=bash; else l=sh; fi; put l "$l"',
      LOGIN_ENV,
      LAUNCHER,
      sentinelLines(input),
      'g=; [ ! -s "$s/sentinel" ] || read -r g <"$s/sentinel"; put g "$g"',
      'printf \'@%s x 0\\n\' "$n"',
    ].join('\n'),
  )
}

/**
 * The variables that login profiles add, as a file that cannot fail: profiles themselves may be slow, may exit, and may
 * be written for another shell.
 */
const LOGIN_ENV = [
  'if [ ! -e "$s/env" ]; then (',
  'PATH=$hf_path; export PATH; sh -c "export -p" >"$s/env.a" 2>/dev/null',
  't=; command -v timeout >/dev/null 2>&1 && t="timeout 10"',
  '$t "$l" -lc "exec sh -c \'export -p\'" >"$s/env.b" 2>/dev/null',
  'grep -E "^export [A-Za-z_][A-Za-z0-9_]*=" "$s/env.b" | grep -v -E "^export (PWD|OLDPWD|SHLVL|_)=" >"$s/env.c"',
  'grep -v -x -F -f "$s/env.a" "$s/env.c" >"$s/env.d"',
  'sh -c \'. "$1"\' sh "$s/env.d" >/dev/null 2>&1 || : >"$s/env.d"',
  'mv -f "$s/env.d" "$s/env"; rm -f "$s/env.a" "$s/env.b" "$s/env.c" ) >/dev/null 2>&1; fi',
].join('\n')

/**
 * A shell starts background commands with SIGINT and SIGQUIT ignored, and a command cannot undo that. These words before
 * it do, where the sandbox has something that can.
 */
const LAUNCHER = [
  'if [ ! -e "$s/launch" ]; then if env --default-signal=INT,QUIT true 2>/dev/null; then',
  "printf '%s\\n' 'env --default-signal=INT,QUIT' >\"$s/launch\"; elif command -v perl >/dev/null 2>&1; then",
  'printf \'%s\\n\' \'perl -e $SIG{INT}=$SIG{QUIT}="DEFAULT";exec(@ARGV)\' >"$s/launch"; else : >"$s/launch"; fi; fi',
].join('\n')

function sentinelLines(input: PrepareScriptInput): string {
  if (input.sentinel === undefined) return ':'
  const write = `printf '%s\\n' ${shellQuote(input.sentinel)} >"$s/sentinel"`
  return input.replaceSentinel ? write : `[ -s "$s/sentinel" ] || ${write}`
}
