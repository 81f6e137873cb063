/** What one path is. `mode` has the file-type bits. */
export interface PosixStat {
  type: 'file' | 'dir' | 'symlink' | 'other'
  mode: number
  /** Bytes. */
  size: number
  /** Differs whenever the file was changed or replaced. A directory's does not tell of its entries. */
  changeKey: string
}

/**
 * A POSIX file system, as this machine or memory gives it. Paths are absolute; links are followed by the system's rules,
 * except where a call says otherwise. Rejections carry the system's `code`: `ENOENT`, `ENOTDIR` and so on.
 */
export interface PosixFiles {
  stat: (path: string) => Promise<PosixStat>
  /** Does not follow a link at the end. */
  lstat: (path: string) => Promise<PosixStat>
  readFile: (path: string) => Promise<Uint8Array>
  /** Creates or replaces the file in one step, with the permission bits when given. */
  replaceFile: (path: string, data: Uint8Array, permissions: number | undefined) => Promise<void>
  readdir: (path: string) => Promise<{ name: string; isDirectory: boolean }[]>
  /** Parents too; an existing directory is fine. */
  mkdir: (path: string) => Promise<void>
  /** Removes the path with all it holds; links are removed, not followed. */
  rm: (path: string) => Promise<void>
  rename: (from: string, to: string) => Promise<void>
  readlink: (path: string) => Promise<string>
  symlink: (target: string, path: string) => Promise<void>
  chmod: (path: string, permissions: number) => Promise<void>
}
