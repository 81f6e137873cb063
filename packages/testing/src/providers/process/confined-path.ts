import { lstat, readlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { ProviderError } from '@holdfast/core'
import { isInsideWorkspace } from '@holdfast/core/provider-kit'
import { isAbsence, leavesWorkspace } from './file-error.ts'

/** As Linux has it. */
const MAX_LINKS = 40

/**
 * The path that `path` really stands for, with every link in it followed by hand, so that each step can be checked: one
 * that leaves `root` is `INVALID_PATH`. What does not exist is taken as it is. With `followLast` false a link at the end
 * stays. A sandbox that swaps a directory for a link between this answer and its use can still win that race.
 */
export async function confinedPath(root: string, path: string, followLast: boolean): Promise<string> {
  let links = 0
  const pending = path.slice(root.length).split('/').filter(Boolean)
  let real = root
  while (pending.length > 0) {
    const name = pending.shift() as string
    const next = join(real, name)
    if (!isInsideWorkspace(root, next)) throw leavesWorkspace(path)
    const target = pending.length > 0 || followLast ? await linkTarget(next) : undefined
    if (target === undefined) {
      real = next
      continue
    }
    links += 1
    if (links > MAX_LINKS) throw new ProviderError('FILE_FAILED', `${path} leads through too many links.`)
    const absolute = resolve(dirname(next), target)
    if (!isInsideWorkspace(root, absolute)) throw leavesWorkspace(path)
    pending.unshift(...absolute.slice(root.length).split('/').filter(Boolean))
    real = root
  }
  return real
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    const stat = await lstat(path)
    return stat.isSymbolicLink() ? await readlink(path) : undefined
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}
