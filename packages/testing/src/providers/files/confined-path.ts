import { dirname, join, resolve } from 'node:path/posix'
import { ProviderError } from '@holdfast/core'
import { isInsideWorkspace } from '@holdfast/core/provider-kit'
import { isAbsence, leavesWorkspace } from './file-error.ts'
import type { PosixFiles } from './posix-files.ts'

/** As Linux has it. */
const MAX_LINKS = 40

export interface ConfinedPathInput {
  files: PosixFiles
  root: string
  /** Absolute, below `root`. */
  path: string
  /** Whether a link at the end is followed too. */
  followLast: boolean
}

/**
 * The path that `path` really stands for, with every link in it followed by hand, so that each step can be checked: one
 * that leaves `root` is `INVALID_PATH`. What does not exist is taken as it is. A sandbox that swaps a directory for a
 * link between this answer and its use can still win that race.
 */
export async function confinedPath({ files, root, path, followLast }: ConfinedPathInput): Promise<string> {
  let links = 0
  let real = root
  const pending = namesBelow(root, path)
  while (pending.length > 0) {
    const next = join(real, pending.shift() as string)
    const target = pending.length > 0 || followLast ? await linkTarget(files, next) : undefined
    if (target === undefined) {
      real = next
      continue
    }
    links += 1
    if (links > MAX_LINKS) throw new ProviderError('FILE_FAILED', `${path} leads through too many links.`)
    const absolute = resolve(dirname(next), target)
    if (!isInsideWorkspace(root, absolute)) throw leavesWorkspace(path)
    pending.unshift(...namesBelow(root, absolute))
    real = root
  }
  return real
}

function namesBelow(root: string, path: string): string[] {
  return path.slice(root.length).split('/').filter(Boolean)
}

async function linkTarget(files: PosixFiles, path: string): Promise<string | undefined> {
  try {
    const { type } = await files.lstat(path)
    return type === 'symlink' ? await files.readlink(path) : undefined
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}
