import { shellQuote } from '@holdfast/core/provider-kit'

/** What the script prints where it lacks a tool. */
export const UNSUPPORTED = 'unsupported'
/** Closes a complete listing. */
export const END_MARK = 'end'
/** Stand where `find` prints the type of an entry, and are none of its letters. */
export const EXCLUDED_MARK = 'X'
export const UNREADABLE_MARK = 'R'

/** Deeper entries have paths that are too long to be opened. */
const MAX_DEPTH = 2_048

const RECORD = String.raw`%y %m %s %T@ %C@ %i\0%p\0%l\0`
const MARKED = (mark: string): string => String.raw`${mark} %m 0 0 0 0\0%p\0\0`

/** BusyBox has no -printf: the names of a batch, what stat says of them in the same order, and targets of the links. */
const BATCH = [
  String.raw`printf 'B\0'; for p do printf '%s\0' "$p"; done; printf '\0'`,
  String.raw`stat -c '/%f %s %Y %Z %i/%n/' -- "$@" 2>/dev/null; printf '\0'`,
  String.raw`for p do if [ -L "$p" ]; then printf '%s\0' "$p"; readlink -n "$p"; printf '\0'; fi; done; printf '\0'`,
].join('; ')
const PRUNED_BATCH = String.raw`printf 'P\0'; for p do printf '%s\0' "$p"; done; printf '\0'`

const UNREADABLE = String.raw`-type d \( ! -readable -o ! -executable \)`

/** Everything below the current directory but what the `find` tests of `prune` match. */
export function walkScript(prune: string): string {
  const start = `find . -mindepth 1 -maxdepth ${MAX_DEPTH} \\( ${prune} \\) -prune`
  return dialects(
    `${start} -printf '${MARKED(EXCLUDED_MARK)}' -o ${UNREADABLE} -prune -printf '${MARKED(UNREADABLE_MARK)}' -o -printf '${RECORD}'`,
    `${start} -exec sh -c ${shellQuote(PRUNED_BATCH)} sh {} + -o -exec sh -c ${shellQuote(BATCH)} sh {} +`,
  )
}

/** The entries whose names are read from standard input. Missing ones are left out. */
export function statScript(): string {
  const gnu = `find "$@" -maxdepth 0 -printf '${RECORD}'`
  return dialects(`xargs -0 sh -c ${shellQuote(gnu)} sh`, `xargs -0 sh -c ${shellQuote(BATCH)} sh`)
}

/**
 * GNU tools, else BusyBox's. All is printed in base64, so that names survive whatever carries the output. Errors of single
 * entries are no failure: what is missing is looked into by the reader.
 */
function dialects(gnu: string, busybox: string): string {
  const framed = (dialect: string, command: string): string =>
    `{ printf '${dialect} %s\\0' "$(date +%s)"; ${command} 2>/dev/null; printf '${END_MARK}\\0'; } | base64 -w 0`
  return [
    'LC_ALL=C; export LC_ALL',
    `for tool in find base64 xargs date; do command -v "$tool" >/dev/null 2>&1 || { echo ${UNSUPPORTED}; exit 0; }; done`,
    `case "$(find . -maxdepth 0 -printf '%C@' 2>/dev/null)" in [0-9]*) ${framed('gnu', gnu)}; exit 0;; esac`,
    `case "$(stat -c %Z . 2>/dev/null)" in [0-9]*) ${framed('busybox', busybox)}; exit 0;; esac`,
    `echo ${UNSUPPORTED}`,
  ].join('\n')
}
