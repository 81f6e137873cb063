import { readdir, readFile, readlink, stat } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { InvalidInputError } from '@holdfast/core'
import type { SandboxHandle } from '@holdfast/core'
import type { Step } from '../run-steps.ts'
import type { SandboxBuild } from '../ensure/sandbox-build.ts'
import { PRIVATE_DIR, workspaceRoot } from '../workspace-marker.ts'

/** Rebuilt by setup, and of another platform; our own data. */
const LEFT_BEHIND: ReadonlySet<string> = new Set(['node_modules', PRIVATE_DIR])

/** Files on their way at once. */
const PARALLEL_WRITES = 8

const PERMISSION_BITS = 0o777
const DEFAULT_FILE_MODE = 0o644

interface LocalEntry {
  readonly kind: 'file' | 'dir' | 'symlink'
  readonly hostPath: string
  readonly path: string
}

/** Copies a directory of the host into the workspace root: files with their modes, empty directories, links that stay inside. */
export const copyLocalSource: Step<SandboxBuild> = {
  name: 'copy local source',
  async run(build) {
    const { workspace } = build.definition
    if (workspace.source?.type !== 'local') return
    build.report('source', 'local files')
    await assertDirectory(workspace.source.path)
    const entries = await listLocal(workspace.source.path, workspaceRoot(workspace))
    await forEachAtOnce(PARALLEL_WRITES, entries, async (entry) => {
      build.signal.throwIfAborted()
      await copyEntry(build.handle, entry, workspaceRoot(workspace))
    })
  },
}

async function assertDirectory(path: string): Promise<void> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error)
  if (!(found instanceof Error) && found.isDirectory()) return
  const cause = found instanceof Error ? { cause: found } : {}
  throw new InvalidInputError(
    'INVALID_CONFIGURATION',
    'source.path of the workspace is no directory on this host.',
    cause,
  )
}

async function listLocal(hostDir: string, dir: string): Promise<LocalEntry[]> {
  const entries: LocalEntry[] = []
  for (const found of await readdir(hostDir, { withFileTypes: true })) {
    if (LEFT_BEHIND.has(found.name)) continue
    const hostPath = join(hostDir, found.name)
    const path = `${dir}/${found.name}`
    if (found.isDirectory()) entries.push({ kind: 'dir', hostPath, path }, ...(await listLocal(hostPath, path)))
    else if (found.isFile()) entries.push({ kind: 'file', hostPath, path })
    else if (found.isSymbolicLink()) entries.push({ kind: 'symlink', hostPath, path })
  }
  return entries
}

async function copyEntry(handle: SandboxHandle, entry: LocalEntry, root: string): Promise<void> {
  if (entry.kind === 'dir') return handle.fs.mkdir(entry.path)
  if (entry.kind === 'symlink') return copyLink(handle, entry, root)
  const [content, { mode }] = await Promise.all([readFile(entry.hostPath), stat(entry.hostPath)])
  await handle.fs.write(entry.path, content)
  const permissions = mode & PERMISSION_BITS
  if (permissions !== DEFAULT_FILE_MODE) await handle.fs.chmod?.(entry.path, permissions)
}

/** A link that leaves the source would point at something else in the sandbox, so it is left out. */
async function copyLink(handle: SandboxHandle, entry: LocalEntry, root: string): Promise<void> {
  const target = await readlink(entry.hostPath)
  const isInside = posix.resolve(posix.dirname(entry.path), target).startsWith(`${root}/`)
  if (target.startsWith('/') || !isInside) return
  await handle.fs.symlink?.(target, entry.path)
}

async function forEachAtOnce<T>(limit: number, items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values()
  await Promise.all(
    Array.from({ length: limit }, async () => {
      for (const item of queue) await work(item)
    }),
  )
}
