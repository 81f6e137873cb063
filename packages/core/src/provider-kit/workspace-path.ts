import { InvalidInputError } from '../errors/error-classes.ts'

/** The name that every workspace root has, whatever the provider's real directory is. */
export const VIRTUAL_ROOT = '/workspace'

/**
 * The real, absolute, normalised path that `path` names. A relative path starts at the workspace root; `/workspace`
 * stands for that root; an absolute path inside the real root is taken as it is, and wins where both readings are
 * possible. Names are kept byte for byte. `INVALID_PATH` for a path that is empty, holds NUL or a lone surrogate, or
 * leaves the workspace. Lexical: links are the provider's to check.
 */
export function resolveWorkspacePath(workspaceRoot: string, path: string): string {
  assertPathText(path)
  const root = normalizePath(workspaceRoot)
  if (!path.startsWith('/')) return confined(root, normalizePath(`${root}/${path}`))
  const absolute = normalizePath(path)
  if (root !== '/' && isWithin(root, absolute)) return absolute
  if (!isWithin(VIRTUAL_ROOT, absolute)) return confined(root, absolute)
  return normalizePath(`${root}${absolute.slice(VIRTUAL_ROOT.length)}`)
}

/** `path` relative to the workspace root, `.` for the root itself. Same rules as `resolveWorkspacePath`. */
export function workspaceRelativePath(workspaceRoot: string, path: string): string {
  const root = normalizePath(workspaceRoot)
  const real = resolveWorkspacePath(root, path)
  if (real === root) return '.'
  return real.slice(root === '/' ? 1 : root.length + 1)
}

/** Whether a real, absolute path is the workspace root or lies below it, after lexical normalisation. */
export function isInsideWorkspace(workspaceRoot: string, realPath: string): boolean {
  return realPath.startsWith('/') && isWithin(normalizePath(workspaceRoot), normalizePath(realPath))
}

/** An absolute path without `.`, `..`, doubled or trailing slashes. `..` at the root stays there. */
export function normalizePath(absolutePath: string): string {
  const names: string[] = []
  for (const name of absolutePath.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return `/${names.join('/')}`
}

function assertPathText(path: unknown): asserts path is string {
  if (typeof path !== 'string') throw new InvalidInputError('INVALID_PATH', 'A path must be a string.')
  if (path === '') throw new InvalidInputError('INVALID_PATH', 'A path must not be empty; the workspace root is ".".')
  if (path.includes('\0')) throw new InvalidInputError('INVALID_PATH', 'A path must not hold a NUL character.')
  if (!path.isWellFormed()) throw new InvalidInputError('INVALID_PATH', 'A path must not hold a lone surrogate.')
}

function isWithin(root: string, path: string): boolean {
  return root === '/' || path === root || path.startsWith(`${root}/`)
}

function confined(root: string, path: string): string {
  if (!isWithin(root, path)) throw outside()
  return path
}

function outside(): InvalidInputError {
  return new InvalidInputError('INVALID_PATH', `The path leaves the workspace. Use a path under ${VIRTUAL_ROOT}.`)
}
