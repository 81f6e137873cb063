import { randomUUID } from 'node:crypto'
import { InvalidInputError, ProviderError } from '../errors/error-classes.ts'
import type { SandboxArchive } from '../sandbox/sandbox-archive.ts'
import { confinedEntries } from './confined-entries.ts'
import type { UnpackPlan } from './confined-entries.ts'
import { readArchive } from './read-archive.ts'
import { shellCommand, shellQuote } from './shell-quote.ts'
import { writeArchive } from './write-archive.ts'

/** What `posixArchive` needs of a sandbox. */
export interface PosixArchiveHost {
  /** The real directory that archives are relative to. */
  workspaceRoot: string
  /** Runs a command with `sh`. */
  exec: (
    command: string,
    options: { stdin: Uint8Array; signal?: AbortSignal },
  ) => Promise<{ stdout: string; stderr: string; exitCode: number }>
  /** Streams the bytes of a file that lies outside the workspace. */
  download: (path: string, options: { signal?: AbortSignal }) => Promise<ReadableStream<Uint8Array>>
  /** Writes a file outside the workspace from a stream. */
  upload: (path: string, bytes: ReadableStream<Uint8Array>, options: { signal?: AbortSignal }) => Promise<void>
  /** Where to keep archives while they travel. Default `/tmp`. */
  temporaryRoot?: string
}

/**
 * `pack` and `unpack` by the sandbox's own `tar`, GNU or BusyBox. Names travel in a file, separated by NUL. What is
 * unpacked has been checked entry by entry on this side, and is written only when all of it is sound.
 */
export function posixArchive(host: PosixArchiveHost): SandboxArchive {
  return {
    pack: (paths, options = {}) => pack(host, paths, options),
    unpack: (archive, options = {}) => unpack(host, archive, options),
  }
}

type Options = { signal?: AbortSignal }

async function pack(
  host: PosixArchiveHost,
  paths: readonly string[],
  options: Options,
): Promise<ReadableStream<Uint8Array>> {
  if (paths.length === 0) return writeArchive([])
  const dir = temporaryDir(host)
  try {
    await runScript(host, 'pack', packScript(host.workspaceRoot, dir), nulList(paths.map(dotName)), options)
    const bytes = await host.download(`${dir}/archive`, options)
    return withCleanup(bytes, () => cleanUp(host, dir))
  } catch (error) {
    await cleanUp(host, dir)
    throw error
  }
}

async function unpack(host: PosixArchiveHost, archive: ReadableStream<Uint8Array>, options: Options): Promise<void> {
  const dir = temporaryDir(host)
  const plan: UnpackPlan = { parents: new Set(), dirs: new Map(), leaves: new Set() }
  let source = archive
  try {
    await runScript(host, 'unpack', `umask 077 && mkdir ${shellQuote(dir)}`, new Uint8Array(), options)
    source = writeArchive(confinedEntries(readArchive(archive), plan), { longNames: 'gnu' })
    await host.upload(`${dir}/archive`, source, options)
    await runScript(host, 'unpack', unpackScript(host.workspaceRoot, dir), planList(plan), options)
  } catch (error) {
    // Nobody reads it any more; one that is locked is its reader's to let go.
    if (!source.locked) await source.cancel(error).catch(() => undefined)
    throw error
  } finally {
    await cleanUp(host, dir)
  }
}

/**
 * A path that vanished makes tar answer 1 or 2 and go on; a disk that is full leaves an archive without an end, which
 * its reader notices. So both go through here.
 */
function packScript(root: string, dir: string): string {
  return [
    `umask 077 && mkdir ${shellQuote(dir)} && cd ${shellQuote(dir)} && cat > names || exit 70`,
    'export LC_ALL=C',
    `cd ${shellQuote(root)} || exit 70`,
    `out=${shellQuote(dir)}`,
    'if tar --version 2>/dev/null | grep -q GNU; then',
    '  tar --create --file="$out/archive" --format=posix --pax-option=delete=atime,delete=ctime,delete=mtime \\',
    '    --hard-dereference --no-recursion --null --files-from="$out/names"',
    'else',
    `  xargs -0 -n 500 ${shellCommand(['sh', '-c', PACK_BATCH])} "$out" < "$out/names" || exit 71`,
    '  dd if=/dev/zero bs=512 count=2 2>/dev/null >> "$out/archive"',
    'fi',
    'code=$?; test "$code" -le 2 && test -s "$out/archive" && exit 0; exit "$code"',
  ].join('\n')
}

/**
 * BusyBox tar reads no list of names, so they are arguments, in batches whose archives are joined without their ends:
 * two blocks of 512 bytes.
 */
const PACK_BATCH = [
  'tar -c -f "$0/part" --no-recursion -- "$@"; test "$?" -le 2 || exit 1',
  'blocks=$(($(wc -c < "$0/part") / 512 - 2)); test "$blocks" -gt 0 || exit 0',
  'dd if="$0/part" bs=512 count="$blocks" 2>/dev/null >> "$0/archive"',
].join('\n')

/** First makes way, so that nothing is written through a link and kinds may change; then unpacks; then sets modes. */
function unpackScript(root: string, dir: string): string {
  const clear = [
    'for item do kind=${item%%:*}; path=./${item#*:}',
    'case $kind in',
    'd) if test -L "$path" || { test -e "$path" && ! test -d "$path"; }; then rm -f -- "$path" || exit 1; fi;;',
    'f) if test -L "$path" || test -e "$path"; then rm -rf -- "$path" || exit 1; fi;;',
    'esac; done',
  ].join('\n')
  return [
    `cd ${shellQuote(dir)} && cat > plan || exit 70`,
    `cd ${shellQuote(root)} || exit 70`,
    `xargs -0 ${shellCommand(['sh', '-c', clear, 'sh'])} < ${shellQuote(`${dir}/plan`)} || exit 71`,
    `tar -x -p -o -f ${shellQuote(`${dir}/archive`)}`,
  ].join('\n')
}

function planList(plan: UnpackPlan): Uint8Array {
  // Most directories are above something too, and each look goes through all that is above: once is enough.
  const dirs = new Set([...plan.parents, ...plan.dirs.keys()])
  return nulList([...[...dirs].map((path) => `d:${path}`), ...[...plan.leaves].map((path) => `f:${path}`)])
}

async function runScript(
  host: PosixArchiveHost,
  operation: string,
  script: string,
  stdin: Uint8Array,
  options: Options,
): Promise<void> {
  const result = await host.exec(script, { stdin, ...options })
  if (result.exitCode === 0) return
  const message = `archive.${operation} failed in the sandbox with exit code ${result.exitCode}. Details: stderr.`
  const details = { operation, exitCode: result.exitCode, stderr: result.stderr.slice(-2_000) }
  throw new ProviderError('FILE_FAILED', message, { details })
}

/** Not under the caller's signal: what an aborted call left behind goes too. A failure leaves a file in `/tmp`. */
async function cleanUp(host: PosixArchiveHost, dir: string): Promise<void> {
  await host.exec(`rm -rf -- ${shellQuote(dir)}`, { stdin: new Uint8Array() }).catch(() => undefined)
}

function withCleanup(bytes: ReadableStream<Uint8Array>, done: () => Promise<void>): ReadableStream<Uint8Array> {
  const reader = bytes.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await reader.read()
          if (!next.done) {
            controller.enqueue(next.value)
            return
          }
          await done()
          controller.close()
        } catch (error) {
          await done()
          controller.error(error)
        }
      },
      async cancel(reason) {
        try {
          await reader.cancel(reason)
        } finally {
          await done()
        }
      },
    },
    { highWaterMark: 0 },
  )
}

function temporaryDir(host: PosixArchiveHost): string {
  return `${host.temporaryRoot ?? '/tmp'}/holdfast-${randomUUID()}`
}

/** With `./` in front no name looks like an option. */
function dotName(path: string): string {
  if (path === '' || path.includes('\0')) throw new InvalidInputError('INVALID_PATH', 'A path to pack is unusable.')
  return path === '.' ? '.' : `./${path}`
}

function nulList(items: readonly string[]): Uint8Array {
  return new TextEncoder().encode(items.map((item) => `${item}\0`).join(''))
}
