import { shellQuote } from '@holdfast/core/provider-kit'
import { exportVars, keepVars, printBytes, printFrame, shellLine } from './shell-line.ts'

/** Longest command that is passed as an argument; the kernel's limit for one is 128 KiB. */
const MAX_ARGUMENT_BYTES = 100_000

/** How a script waits for its command. */
export type RunMode =
  /** Prints both outputs once the command has ended, or says that it is late. */
  | { readonly kind: 'direct'; readonly waitMs: number; readonly maxBytes: number | undefined }
  /** Prints output as it comes until the command ends. Of several sessions the last attempt's gives the input. */
  | { readonly kind: 'follow'; readonly attempt: number }
  /** Prints what is there after the offsets, waiting only a moment for more. */
  | { readonly kind: 'peek'; readonly waitMs: number }

/** Whole standard input, a file of the sandbox that holds it, or `pipe` when it comes later through the session. */
export type RunStdin = Uint8Array | { readonly file: string } | 'pipe'

export interface RunScriptInput {
  /** The run's name. A second script with it joins the run instead of starting the command again. */
  nonce: string
  stateDir: string
  command: string
  cwd: string
  /** Variables that come with the request itself; only their names stand in the script. */
  sentNames: readonly string[]
  /** Variables that the script brings. */
  carriedVars: Readonly<Record<string, string>>
  stdin: RunStdin
  mode: RunMode
  /** Bytes of each output to leave out at the start. */
  from: { readonly stdout: number; readonly stderr: number }
  /** Runs whose results have arrived, so that their files can go. */
  finished: readonly string[]
}

/**
 * Runs a command with its outputs in files of a directory that is made in one atomic step: whoever makes it starts the
 * command, everybody after joins. So the script may be sent again after a lost reply, and outputs stay apart, exact and
 * readable from any byte.
 */
export function runScript(input: RunScriptInput): string {
  const attempt = feedingAttempt(input)
  return shellLine(
    [
      `n=${input.nonce}; s=${shellQuote(input.stateDir)}; d="$s/run/$n"; um=$(umask); umask 077`,
      forgetFinished(input.finished),
      input.stdin === 'pipe' ? 'exec 5<&0 </dev/null' : 'exec </dev/null',
      '[ -d "$s/run" ] || mkdir -p "$s/run"',
      'if mkdir "$d" 2>/dev/null; then',
      input.stdin === 'pipe' && attempt === undefined ? NEVER_BEGIN : startCommand(input),
      attempt === undefined ? 'fi' : `else\n${takeStdin(attempt)}\nfi`,
      ALIVE,
      waitAndPrint(input),
    ].join('\n'),
  )
}

/** The attempt whose session gives the command its input; undefined for a script that gives none. */
function feedingAttempt({ stdin, mode }: RunScriptInput): number | undefined {
  return stdin === 'pipe' && mode.kind === 'follow' ? mode.attempt : undefined
}

function forgetFinished(nonces: readonly string[]): string {
  if (nonces.length === 0) return ':'
  const files = nonces.map((nonce) => `"$s/run/${nonce}"/*`).join(' ')
  // The empty directory stays: a copy of the request that arrives late must still find it.
  return `( rm -f ${files} ) >/dev/null 2>&1 </dev/null`
}

/** The supervisor outlives the script that started it, so that a late command can be joined. */
function startCommand(input: RunScriptInput): string {
  const vars = keepVars(input.sentNames)
  const attempt = feedingAttempt(input)
  return [
    `if cd ${shellQuote(input.cwd)} 2>/dev/null; then`,
    input.stdin === 'pipe' ? 'mkfifo "$d/in"' : stdinFile(input.stdin),
    commandText(input.command),
    '( ( hf_set=$(command -v setsid); hf_sh=$(command -v sh); hf_r=; [ ! -s "$s/launch" ] || read -r hf_r <"$s/launch"',
    attempt === undefined ? ':' : feedStdin(attempt),
    `umask "$um"; ${vars.save}; PATH=$hf_path; [ ! -r "$s/env" ] || . "$s/env"; ${NEVER_PROMPT}`,
    `${vars.restore}; ${exportVars(input.carriedVars)}; export HOLDFAST_RUN=$n`,
    '$hf_set $hf_r "$hf_sh" "$@" <"$d/in" >"$d/out" 2>"$d/err" 5<&- & hf_p=$!; printf %s "$hf_p" >"$d/pid"',
    'wait "$hf_p"; hf_c=$?; hf_feed=; [ ! -s "$d/feed" ] || read -r hf_feed hf_a <"$d/feed"',
    '[ -z "$hf_feed" ] || kill "$hf_feed" 2>/dev/null; printf %s "$hf_c" >"$d/code"',
    ') </dev/null >/dev/null 2>&1 & printf %s $! >"$d/sup" )',
    'else printf f >"$d/code"; fi',
  ].join('\n')
}

function stdinFile(stdin: Exclude<RunStdin, 'pipe'>): string {
  if ('file' in stdin) return `mv -f ${shellQuote(stdin.file)} "$d/in"`
  return stdin.length === 0 ? ': >"$d/in"' : `${printBytes(stdin)} >"$d/in"`
}

function commandText(command: string): string {
  if (Buffer.byteLength(command) < MAX_ARGUMENT_BYTES) return `set -- -c ${shellQuote(command)}`
  return `printf %s ${shellQuote(command)} >"$d/cmd"; set -- "$d/cmd"`
}

/**
 * Passes standard input on: the session gives numbered lines of base64, `.` ends it, and a line that came twice counts
 * once.
 */
const PASS_LINES = [
  '( hf_q=0; while IFS=" " read -r hf_i hf_l; do',
  'case $hf_i in ""|*[!0-9]*) continue;; esac; [ "$hf_i" -gt "$hf_q" ] || continue; hf_q=$hf_i',
  '[ "$hf_l" != . ] || break; printf %s "$hf_l" | base64 -d; done ) <&5',
].join('\n')

/** The file names the process that feeds and the attempt that it belongs to. */
function feedStdin(attempt: number): string {
  return `${PASS_LINES} >"$d/in" & printf '%s %s' $! ${attempt} >"$d/feed"`
}

/**
 * A session that joins takes the input over, because the session that began may never hear of it; unless that one
 * belongs to a later attempt, and this script was only slow to start. The pipe is open in both directions meanwhile, so
 * that the command sees no end between the two.
 */
function takeStdin(attempt: number): string {
  return [
    'hf_i=0; while [ ! -s "$d/feed" ] || ! mkdir "$d/take" 2>/dev/null; do',
    '[ ! -s "$d/code" ] && [ ! -e "$d/killed" ] || break; hf_i=$((hf_i+1)); [ "$hf_i" -lt 1500 ] || break; sleep 0.01; done',
    'hf_feed=; hf_a=; [ ! -s "$d/feed" ] || [ -s "$d/code" ] || read -r hf_feed hf_a <"$d/feed"',
    `if [ -n "$hf_feed" ] && [ "\${hf_a:-0}" -lt ${attempt} ]; then exec 6<>"$d/in"`,
    `${PASS_LINES} >&6 & printf '%s %s' $! ${attempt} >"$d/feed"; kill "$hf_feed" 2>/dev/null; exec 6>&-; fi`,
    'rmdir "$d/take" 2>/dev/null',
  ].join('\n')
}

/** Without a session there is nobody to give it input, so the command must not run on none. */
const NEVER_BEGIN = ': >"$d/killed"'

/** Git fails instead of asking for anything. What the caller or the sandbox sets wins. */
const NEVER_PROMPT = Object.entries({
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '/bin/true',
  SSH_ASKPASS: '/bin/true',
  GCM_INTERACTIVE: 'never',
  GIT_SSH_COMMAND: 'ssh -o BatchMode=yes',
})
  .map(([name, value]) => `export ${name}="\${${name}-${value}}"`)
  .join('; ')

/** Whether the supervisor still runs; a zombie does not. */
const ALIVE = [
  'hf_n=0; alive() { if [ ! -s "$d/sup" ]; then hf_n=$((hf_n+1)); [ "$hf_n" -lt 150 ]; return; fi',
  'hf_sup=; read -r hf_sup <"$d/sup"',
  '{ read -r a b c e <"/proc/$hf_sup/stat"; } 2>/dev/null && [ "$c" != Z ]; }',
].join('\n')

function waitAndPrint(input: RunScriptInput): string {
  const { mode } = input
  if (mode.kind === 'follow') return `${PRELUDE}\n${EMIT}\n${followLoop(input.from)}\n${PRINT_END}`
  const late = `if [ -z "$hf_end" ]; then ${printFrame('l', '-')}; exit 0; fi`
  const maxBytes = mode.kind === 'direct' ? mode.maxBytes : undefined
  return [
    waitLoop(Math.max(1, Math.ceil(mode.waitMs / 100))),
    mode.kind === 'direct' ? late : PRINT_PID,
    printPart('o', 'out', input.from.stdout, maxBytes),
    printPart('e', 'err', input.from.stderr, maxBytes),
    late,
    PRINT_END,
  ].join('\n')
}

/** Looks often at first, so that a short command costs little, then ten times a second. */
function waitLoop(limit: number): string {
  return [
    'hf_i=0; hf_end=',
    'while :; do',
    'if [ -s "$d/code" ] || [ -e "$d/killed" ]; then hf_end=1; break; fi',
    'if ! alive; then [ -s "$d/code" ] || : >"$d/lost"; hf_end=1; break; fi',
    `hf_i=$((hf_i+1)); [ "$hf_i" -lt ${limit + 40} ] || break`,
    'if [ "$hf_i" -le 20 ]; then sleep 0.01; elif [ "$hf_i" -le 40 ]; then sleep 0.03; else sleep 0.1; fi',
    'done',
  ].join('\n')
}

/** A line that may get lost: the client drops what comes before the first marker that it sees in one piece. */
const PRELUDE = printFrame('p', '-')

/** Comes before all output, in a stream and without one: whoever spawned the command waits to hear that it runs. */
const PRINT_PID = `hf_p=-; [ ! -s "$d/pid" ] || read -r hf_p <"$d/pid"; ${printFrame('s', '"$hf_p"')}`

function printPart(kind: string, file: string, from: number, maxBytes: number | undefined): string {
  const tail = from > 0 ? `tail -c +${from + 1} "$d/${file}"` : `cat "$d/${file}"`
  const cut = maxBytes === undefined ? '' : ` | head -c ${maxBytes + 1}`
  const pieces = `${tail} 2>/dev/null${cut} | base64 | tr -d '\\n'`
  return `if [ -s "$d/${file}" ]; then printf '@%s ${kind} ' "$n"; ${pieces}; printf '\\n'; fi`
}

const EMIT = [
  'emit() { while :; do hf_b=$(dd bs=49152 count=1 2>/dev/null <&$1 | base64 | tr -d "\\n")',
  `[ -n "$hf_b" ] || return 0; hf_w=0; ${printFrame('$2', '"$hf_b"')}; done; }`,
].join('\n')

/** Prints new output, with longer pauses while there is none, and a sign of life every few seconds. */
function followLoop(from: { stdout: number; stderr: number }): string {
  const skip = (fd: number, bytes: number): string =>
    bytes > 0 ? `dd bs=${bytes} count=1 of=/dev/null 2>/dev/null <&${fd}` : ':'
  return [
    'hf_i=0; while [ ! -e "$d/out" ] || [ ! -e "$d/err" ] || [ ! -s "$d/pid" ]; do',
    '[ ! -s "$d/code" ] && [ ! -e "$d/killed" ] || break; hf_i=$((hf_i+1)); [ "$hf_i" -lt 500 ] || break; sleep 0.01; done',
    PRINT_PID,
    `: >>"$d/out"; : >>"$d/err"; exec 3<"$d/out" 4<"$d/err"; ${skip(3, from.stdout)}; ${skip(4, from.stderr)}`,
    'hf_w=0; hf_h=0; while :; do',
    'hf_end=; if [ -s "$d/code" ] || [ -e "$d/killed" ]; then hf_end=1; elif ! alive; then',
    '[ -s "$d/code" ] || : >"$d/lost"; hf_end=1; fi',
    '[ ! -s "$d/out" ] || emit 3 o; [ ! -s "$d/err" ] || emit 4 e',
    '[ -z "$hf_end" ] || break',
    'hf_w=$((hf_w+1)); hf_h=$((hf_h+1))',
    'if [ "$hf_w" -le 20 ]; then sleep 0.03; elif [ "$hf_w" -le 60 ]; then sleep 0.1; else sleep 0.25; fi',
    `if [ "$hf_h" -ge 10 ]; then hf_h=0; ${printFrame('h', '-')}; fi`,
    'done; exec 3<&- 4<&-',
  ].join('\n')
}

const PRINT_END = [
  `if [ ! -s "$d/code" ] && [ -e "$d/killed" ]; then ${printFrame('k', '-')}`,
  `elif [ ! -s "$d/code" ]; then ${printFrame('u', '-')}`,
  'else hf_c=; read -r hf_c <"$d/code"',
  `if [ "$hf_c" = f ]; then ${printFrame('f', '-')}; else ${printFrame('x', '"$hf_c"')}; fi; fi`,
].join('\n')
