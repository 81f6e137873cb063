import { shellQuote } from '@holdfast/core/provider-kit'
import { printBytes } from '../script/shell-line.ts'

/** Files up to this size come and go within the request itself. */
export const MAX_INLINE_BYTES = 256 * 1024

/** Prints the bytes, or for a large file makes a plainly named link to it and prints `big`. */
export function readCall(path: string, linkName: string): string {
  return [
    `walk ${shellQuote(path)} 1; [ -e "$r" ] || miss "$r"; [ -f "$r" ] || end conflict; [ -r "$r" ] || end failed`,
    `z=$(wc -c <"$r"); if [ "$z" -gt ${MAX_INLINE_BYTES} ]; then`,
    `ln -sfn "$r" "$s/up/${linkName}" || end failed; printf %s "$z" | put z; end big; fi`,
    'put b <"$r"',
  ].join('\n')
}

/** Replaces the file by one that is complete. `uploaded` names a file that was brought before. */
export function writeCall(path: string, content: Uint8Array | { uploaded: string; size: number }): string {
  const fill =
    content instanceof Uint8Array
      ? `${content.length === 0 ? ':' : printBytes(content)} >"$t"`
      : `[ "$(wc -c <"$s/up/${content.uploaded}")" -eq ${content.size} ] && cat "$s/up/${content.uploaded}" >"$t"`
  return [
    `walk ${shellQuote(path)} 1; if [ -e "$r" ]; then [ -f "$r" ] || end conflict; fi; parent "$r"`,
    't="${r%/*}/.hf-$n"',
    `{ ${fill}; } 2>/dev/null || { rm -f "$t"; end failed; }`,
    '[ ! -e "$r" ] || chmod "$(stat -c %a -- "$r")" "$t" || { rm -f "$t"; end failed; }',
    'mv -f -- "$t" "$r" 2>/dev/null || { rm -f "$t"; [ -d "$r" ] && end conflict; end failed; }',
  ].join('\n')
}

/** Prints type and name of each entry, each pair ended by NUL. */
export function listCall(path: string): string {
  return [
    `walk ${shellQuote(path)} 1; [ -e "$r" ] || miss "$r"; [ -d "$r" ] || end conflict`,
    '[ -r "$r" ] && [ -x "$r" ] || end failed',
    '{ for f in "$r"/* "$r"/.[!.]* "$r"/..?*; do [ -e "$f" ] || [ -L "$f" ] || continue',
    'k=f; [ -d "$f" ] && [ ! -L "$f" ] && k=d',
    'printf \'%s%s\\0\' "$k" "${f##*/}"; done; } | put b',
  ].join('\n')
}

export function mkdirCall(path: string): string {
  return `walk ${shellQuote(path)} 1; [ ! -e "$r" ] || [ -d "$r" ] || end conflict; parent "$r/x"`
}

export function removeCall(path: string): string {
  return `walk ${shellQuote(path)} 0; rm -rf -- "$r" 2>/dev/null; [ ! -e "$r" ] && [ ! -L "$r" ] || end failed`
}

/** Leaves a mark, so that a call whose reply was lost is not taken for one whose source is missing. */
export function renameCall(from: string, to: string): string {
  return [
    `[ ! -e "$s/up/$n" ] || end ok; walk ${shellQuote(from)} 0; f=$r; walk ${shellQuote(to)} 0`,
    '[ -e "$f" ] || [ -L "$f" ] || miss "$f"; [ "$f" != "$r" ] || end ok; parent "$r"',
    'isdir() { [ -d "$1" ] && [ ! -L "$1" ]; }',
    'if isdir "$r"; then isdir "$f" || end conflict; rmdir -- "$r" 2>/dev/null || end conflict',
    'elif isdir "$f" && { [ -e "$r" ] || [ -L "$r" ]; }; then end conflict; fi',
    // A link to a directory would be entered instead of replaced.
    '[ ! -L "$r" ] || rm -f -- "$r"',
    'mv -f -- "$f" "$r" 2>/dev/null || end failed; : >"$s/up/$n"',
  ].join('\n')
}

export function existsCall(path: string): string {
  return `walk ${shellQuote(path)} 1; [ -e "$r" ] || end absent`
}

/** Prints mode (hexadecimal, type bits included) and size. */
export function lstatCall(path: string): string {
  return [
    `walk ${shellQuote(path)} 0; [ -e "$r" ] || [ -L "$r" ] || end absent`,
    'a=$(stat -c "%f %s" -- "$r" 2>/dev/null) || end failed; printf %s "$a" | put b',
  ].join('\n')
}

export function readlinkCall(path: string): string {
  return [
    `walk ${shellQuote(path)} 0; [ -e "$r" ] || [ -L "$r" ] || miss "$r"; [ -L "$r" ] || end conflict`,
    'readlink -n -- "$r" | put b',
  ].join('\n')
}

export function symlinkCall(target: string, path: string): string {
  return [
    `[ ! -e "$s/up/$n" ] || end ok; walk ${shellQuote(path)} 0; [ ! -e "$r" ] && [ ! -L "$r" ] || end conflict`,
    `parent "$r"; ln -s -- ${shellQuote(target)} "$r" 2>/dev/null || end failed; : >"$s/up/$n"`,
  ].join('\n')
}

export function chmodCall(path: string, mode: number): string {
  return `walk ${shellQuote(path)} 1; [ -e "$r" ] || miss "$r"; chmod ${mode.toString(8)} -- "$r" 2>/dev/null || end failed`
}
