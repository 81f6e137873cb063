import { cp, lstat, mkdir, rename, rm } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The directories behind one sandbox. `home` stands for `/home/daytona` and is where its files are. */
export interface SandboxRoots {
  readonly root: string
  readonly home: string
  readonly tmp: string
  /** What the daemon keeps for itself: session scripts, pipes and logs. */
  readonly daemon: string
  /** Where the files are while the sandbox is archived. */
  readonly backup: string
}

export function sandboxRoots(baseDir: string, sandboxId: string): SandboxRoots {
  const root = join(baseDir, 'sandboxes', sandboxId)
  return {
    root,
    home: join(root, 'home', 'daytona'),
    tmp: join(root, 'tmp'),
    daemon: join(baseDir, 'daemon', sandboxId),
    backup: join(baseDir, 'backups', sandboxId),
  }
}

/** Makes the directories; with `from`, as a copy of a snapshot. */
export async function createRoots(roots: SandboxRoots, from?: string): Promise<void> {
  if (from !== undefined && existsSync(from)) await copyTree(from, roots.root)
  await mkdir(roots.home, { recursive: true })
  await mkdir(roots.tmp, { recursive: true })
}

/** Takes the files away from the runner, as archiving does. */
export async function archiveRoots(roots: SandboxRoots): Promise<void> {
  await mkdir(join(roots.backup, '..'), { recursive: true })
  await rename(roots.root, roots.backup)
  await rm(roots.daemon, { recursive: true, force: true })
}

export async function restoreRoots(roots: SandboxRoots): Promise<void> {
  if (existsSync(roots.backup)) await rename(roots.backup, roots.root)
  await createRoots(roots)
}

export async function removeRoots(roots: SandboxRoots): Promise<void> {
  for (const dir of [roots.root, roots.backup, roots.daemon])
    await rm(dir, { recursive: true, force: true, maxRetries: 3 })
}

export async function copyTree(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, filter: isPlain })
}

async function isPlain(path: string): Promise<boolean> {
  const stat = await lstat(path)
  return stat.isFile() || stat.isDirectory() || stat.isSymbolicLink()
}
