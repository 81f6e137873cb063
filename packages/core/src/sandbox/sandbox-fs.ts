/** An entry of a directory listing. `path` is the listed path, `/`, and the name. A link is listed as what it is: `file`. */
export interface SandboxDirEntry {
  name: string
  path: string
  type: 'file' | 'dir'
}

/**
 * What one path is, links not followed. `mode` has the file-type bits (`0o100644`, `0o040755`, `0o120777`).
 * `size` is in bytes.
 */
export type SandboxFileStat =
  | { type: 'file'; mode: number; size: number }
  | { type: 'dir' | 'symlink' | 'other'; mode: number }

/** A watch that goes on until it is stopped. */
export interface SandboxFileWatch {
  stop: () => Promise<void>
}

/** One change of a file. `type` is the provider's word for it. */
export interface SandboxFileWatchEvent {
  type: string
  path: string
}

/**
 * Files of a sandbox. Paths are POSIX; a relative path starts at the workspace root, and `/workspace` names that root
 * whatever the provider's real directory is. Names are taken byte for byte: nothing is trimmed or normalised.
 *
 * Common codes: `INVALID_PATH` for a path that is empty or holds NUL, `FILE_NOT_FOUND`, `FILE_CONFLICT` (a file where a
 * directory is needed or the other way round), `FILE_FAILED`, `SANDBOX_CLOSED` after `destroy`, and the provider codes.
 */
export interface SandboxFs {
  /** The file as UTF-8 text, a byte order mark kept. Links are followed. `FILE_NOT_FOUND` when there is none. */
  read: (path: string) => Promise<string>
  /** The file's exact bytes. Links are followed. `FILE_NOT_FOUND` when there is none. */
  readBytes: (path: string) => Promise<Uint8Array>
  /**
   * Replaces or creates the file; missing parent directories are made. A reader sees the old or the new content, never a
   * part. The mode of an existing file is kept. Safe to repeat.
   */
  write: (path: string, data: string | Uint8Array) => Promise<void>
  /** The directory's entries, hidden and dangling ones too, without `.` and `..`, in no promised order. */
  list: (path: string) => Promise<SandboxDirEntry[]>
  /** Makes the directory and its parents. An existing directory is fine; `FILE_CONFLICT` over a file. */
  mkdir: (path: string) => Promise<void>
  /** Removes a file, a link (never its target) or a directory with all it holds. A missing path is fine. */
  remove: (path: string) => Promise<void>
  /** Moves, replacing a file at `to`. Missing parents of `to` are made. `FILE_NOT_FOUND` without `from`. */
  rename: (from: string, to: string) => Promise<void>
  /** False only when the path is known to be absent (a dangling link is absent). Anything unclear rejects. */
  exists: (path: string) => Promise<boolean>
  /** What the path is, links not followed; undefined only when it is known to be absent. */
  lstat?: (path: string) => Promise<SandboxFileStat | undefined>
  /** The link's target as it is written. `FILE_CONFLICT` when the path is no link. Needs `symlinks`. */
  readlink?: (path: string) => Promise<string>
  /** Makes a link at `path` with exactly this target; `FILE_CONFLICT` when something stands there. Needs `symlinks`. */
  symlink?: (target: string, path: string) => Promise<void>
  /** Sets the permission bits (`0o755`), links followed. */
  chmod?: (path: string, mode: number) => Promise<void>
  /** Calls `onEvent` after changes below `path`. Events may be late or merged, never invented. */
  watch?: (path: string, onEvent: (event: SandboxFileWatchEvent) => void) => Promise<SandboxFileWatch>
}
