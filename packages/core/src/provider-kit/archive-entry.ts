import { InvalidInputError } from '../errors/error-classes.ts'

/** What an archive may hold. `mode` is the permission bits; `path` is normalised and relative, `.` for the root. */
export type ArchiveEntry =
  | { path: string; kind: 'file'; size: number; mode: number; body: ReadableStream<Uint8Array> }
  | { path: string; kind: 'dir'; mode: number }
  | { path: string; kind: 'symlink'; target: string }

/** An entry as it is read. A hard link names an earlier entry; `other` is a device, a pipe or the like. */
export type ReadArchiveEntry =
  | ArchiveEntry
  | { path: string; kind: 'hardlink'; target: string }
  | { path: string; kind: 'other' }

/** `name` without `./` and trailing slash. `INVALID_PATH` when it is absolute, or leads through `..` or nowhere. */
export function archivePath(name: string): string {
  const path = name.replace(/^(?:\.\/+)+/, '').replace(/\/+$/, '')
  if (path === '' || path === '.') {
    if (/^\.\/*$/.test(name)) return '.'
    throw unusable()
  }
  const isUsable = path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  if (!isUsable || path.includes('\0')) throw unusable()
  return path
}

/** The directory above a path; empty for what stands in the root. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

function unusable(): InvalidInputError {
  return new InvalidInputError('INVALID_PATH', 'An archive entry has a path that is not below the workspace root.')
}
