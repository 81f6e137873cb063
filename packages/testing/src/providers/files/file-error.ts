import { ConflictError, InvalidInputError, isHoldfastError, NotFoundError, ProviderError } from '@holdfast/core'

const CONFLICTS = new Set(['ENOTDIR', 'EISDIR', 'EEXIST', 'ENOTEMPTY', 'ERR_FS_EISDIR'])

/** What the system's answer to a file call means to a caller. `what` names the call and the path. */
export function fileError(error: unknown, what: string): unknown {
  if (isHoldfastError(error)) return error
  const code = errnoOf(error)
  if (code === 'ENOENT')
    return new NotFoundError('FILE_NOT_FOUND', `${what}: no such file or directory.`, { cause: error })
  if (code !== undefined && CONFLICTS.has(code)) {
    return new ConflictError('FILE_CONFLICT', `${what}: a file and a directory stand in each other's way.`, {
      cause: error,
    })
  }
  return new ProviderError('FILE_FAILED', `${what} failed (${code ?? 'no error code'}).`, { cause: error })
}

/** `ENOENT` and the like; undefined for anything that is not the system's answer. */
export function errnoOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  return typeof code === 'string' ? code : undefined
}

/** Whether the answer proves that nothing has this path. */
export function isAbsence(error: unknown): boolean {
  const code = errnoOf(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}

export function leavesWorkspace(path: string): InvalidInputError {
  return new InvalidInputError('INVALID_PATH', `${path} leads through a link out of the workspace.`)
}

/** For a handle whose sandbox somebody else has destroyed. */
export function sandboxGone(): NotFoundError {
  return new NotFoundError('SANDBOX_NOT_FOUND', 'The sandbox of this handle was destroyed. Get a new one.')
}
