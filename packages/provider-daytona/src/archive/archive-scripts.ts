import { shellQuote } from '@holdfast/core/provider-kit'
import { printBytes, shellLine } from '../script/shell-line.ts'

export interface ArchivePlace {
  nonce: string
  workspaceRoot: string
  stateDir: string
  /** The archive's file among the transfers. */
  archiveName: string
  finished: readonly string[]
}

function prelude(input: ArchivePlace): string {
  const forget = input.finished.map((name) => `"$s/up/${name}"`).join(' ')
  return [
    `n=${input.nonce}; w=${shellQuote(input.workspaceRoot)}; s=${shellQuote(input.stateDir)}; exec </dev/null`,
    forget === '' ? ':' : `rm -rf ${forget}`,
    `a="$s/up/${input.archiveName}"; x="$a.d"; LC_ALL=C; export LC_ALL`,
    'end() { printf \'@%s %s %s\\n\' "$n" "$1" "${2:--}"; exit 0; }',
    'cd "$w" || end failed',
  ].join('\n')
}

export interface PackScriptInput extends ArchivePlace {
  /** Relative to the workspace root. */
  paths: readonly string[]
  /** Whether directories bring what they hold. */
  isRecursive: boolean
}

/** Passes on the names that exist and are not reached through a link. */
const KEEP_OWN = [
  'for p do k=1; d=$p; while case $d in */*) true;; *) false;; esac; do d=${d%/*}; [ ! -L "$d" ] || k=; done',
  'if [ -n "$k" ] && { [ -e "$p" ] || [ -L "$p" ]; }; then printf "%s\\0" "$p"; fi; done',
].join('\n')

/**
 * Makes a tar archive and prints its size. A file that vanishes while tar reads makes tar fail, so it is tried again with
 * the names that are left.
 */
export function packScript(input: PackScriptInput): string {
  const names = printBytes(Buffer.from(input.paths.map((path) => `${path}\0`).join(''), 'utf8'))
  const recursion = input.isRecursive ? '--recursion' : '--no-recursion'
  return shellLine(
    [
      prelude(input),
      'i=0; while :; do i=$((i+1))',
      `${names} | xargs -0 sh -c ${shellQuote(KEEP_OWN)} sh >"$a.l"`,
      `tar -cf "$a" --format=posix --pax-option=delete=atime,delete=ctime ${recursion} --null -T "$a.l" 2>"$a.e"; c=$?`,
      '[ "$c" -gt 1 ] || break; [ "$i" -lt 3 ] || { rm -f "$a" "$a.l" "$a.e"; end failed "$c"; }; sleep 0.05; done',
      'rm -f "$a.l" "$a.e"; end ok "$(wc -c <"$a" | tr -d " ")"',
    ].join('\n'),
  )
}

/**
 * Unpacks entries that were checked before beside the workspace, where nothing can be hit, and then replaces what stands
 * in their way in it.
 */
export function unpackScript(input: ArchivePlace & { directory: string; size: number }): string {
  return shellLine(
    [
      prelude(input),
      // Done before, and the reply was lost.
      '[ ! -e "$a.ok" ] || end ok',
      `[ "$(wc -c <"$a")" -eq ${input.size} ] || end short`,
      `b=${shellQuote(input.directory)}; rm -rf "$x"; mkdir "$x" || end failed`,
      'tar -xpf "$a" -C "$x" --no-same-owner --delay-directory-restore 2>"$a.e"; c=$?',
      '[ "$c" = 0 ] || { chmod -R u+rwx "$x"; rm -rf "$x" "$a" "$a.e"; end failed "$c"; }',
      'mkdir -p -- "$b" 2>/dev/null || end conflict; cd "$x" || end failed',
      `find . -type d -exec sh -c ${shellQuote(CLEAR_FOR_DIRS)} "$b" {} +`,
      `find . ! -type d -exec sh -c ${shellQuote(CLEAR_FOR_FILES)} "$b" {} +`,
      'cp -a --remove-destination . "$b/" 2>"$a.e"; c=$?',
      'cd /; chmod -R u+rwx "$x" 2>/dev/null; rm -rf "$x" "$a" "$a.e"; [ "$c" = 0 ] || end failed "$c"; : >"$a.ok"; end ok',
    ].join('\n'),
  )
}

/** Whatever is no real directory gives way to one. */
const CLEAR_FOR_DIRS =
  'for d do t="$0/$d"; if [ -L "$t" ] || { [ -e "$t" ] && [ ! -d "$t" ]; }; then rm -f -- "$t"; fi; done'
/** A real directory gives way to a file or a link. */
const CLEAR_FOR_FILES = 'for f do t="$0/$f"; if [ -d "$t" ] && [ ! -L "$t" ]; then rm -rf -- "$t"; fi; done'
