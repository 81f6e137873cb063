import { shellQuote } from '@holdfast/core/provider-kit'
import { ProviderError } from '@holdfast/core'
import type { SandboxExecResult, SandboxHandle } from '@holdfast/core'
import { IGNORED_DIRS } from './ignored-dirs.ts'

/** One file as a listing saw it. Two equal keys mean: not touched in between. */
export interface ListedFile {
  readonly key: string
  /** Bytes. */
  readonly size: number
}

/** Files and links by path relative to the root. */
export type FileListing = ReadonlyMap<string, ListedFile>

const MAX_LISTING_BYTES = 16 * 1024 * 1024
const LISTING_TIMEOUT_MS = 60_000

const NAMES = [...IGNORED_DIRS].map((name) => `-name ${shellQuote(name)}`).join(' -o ')
const FIND = `find . \\( ${NAMES} \\) -prune -o`

/** The first that works is taken. */
const LISTINGS = [
  // GNU find: times to the nanosecond.
  { command: `${FIND} \\( -type f -o -type l \\) -printf '%s/%T@/%C@/%i/%p\\0'`, separator: '\0' },
  // BusyBox has no -printf; its times are whole seconds.
  { command: `${FIND} \\( -type f -o -type l \\) -exec stat -c '%s/%Y/%Z/%i/%n' {} +`, separator: '\n' },
  // An interpreted shell, without links, inodes and times of change.
  { command: `${FIND} -type f -printf '%s/%T@/0/0/%p\\n'`, separator: '\n' },
] as const

const ENTRY = /^(\d+)\/([\d.-]+\/[\d.-]+\/\d+)\/\.\/(.+)$/s

/** Every file below `root`, in one round trip. `LIMIT_EXCEEDED` for a tree whose listing would not fit in memory. */
export async function listTree(handle: SandboxHandle, root: string, signal?: AbortSignal): Promise<FileListing> {
  let problem = ''
  for (const { command, separator } of LISTINGS) {
    const result = await handle.process.exec(command, {
      cwd: root,
      timeoutMs: LISTING_TIMEOUT_MS,
      maxOutputBytes: MAX_LISTING_BYTES,
      ...(signal !== undefined && { signal }),
    })
    if (isUsable(result)) return parseListing(result.stdout.split(separator))
    problem = result.stderr.slice(0, 500)
  }
  throw new ProviderError('FILE_FAILED', `The sandbox cannot list its files: ${problem}`)
}

/** Files that vanish during the listing make find fail; what it printed is right all the same. */
function isUsable({ stdout, exitCode, truncated, timedOut, stderr }: SandboxExecResult): boolean {
  if (truncated === true || timedOut === true) {
    throw new ProviderError('LIMIT_EXCEEDED', 'The workspace holds too many files to watch.')
  }
  return stdout === '' ? exitCode === 0 && stderr === '' : ENTRY.test(stdout.split(/[\0\n]/, 1)[0] ?? '')
}

function parseListing(entries: string[]): FileListing {
  const listing = new Map<string, ListedFile>()
  for (const entry of entries) {
    const [, size = '', times = '', path = ''] = ENTRY.exec(entry) ?? []
    if (path !== '') listing.set(path, { key: `${size}/${times}`, size: Number(size) })
  }
  return listing
}
