import { randomUUID } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import * as fs from 'node:fs/promises'
import { join } from 'node:path'
import type { PosixFiles, PosixStat } from '../files/posix-files.ts'

/** The files of this machine. A replaced file is written in `stagingDir` first, which must be on the same file system. */
export function hostFiles(stagingDir: string): PosixFiles {
  return {
    stat: async (path) => posixStat(await fs.stat(path, { bigint: true })),
    lstat: async (path) => posixStat(await fs.lstat(path, { bigint: true })),
    readFile: async (path) => new Uint8Array(await fs.readFile(path)),
    replaceFile: async (path, data, permissions) => {
      const staged = join(stagingDir, randomUUID())
      try {
        await fs.writeFile(staged, data, { flag: 'wx' })
        if (permissions !== undefined) await fs.chmod(staged, permissions)
        await fs.rename(staged, path)
      } catch (error) {
        await fs.rm(staged, { force: true })
        throw error
      }
    },
    readdir: async (path) => {
      const entries = await fs.readdir(path, { withFileTypes: true })
      return entries.map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() }))
    },
    mkdir: async (path) => void (await fs.mkdir(path, { recursive: true })),
    rm: (path) => fs.rm(path, { recursive: true, force: true }),
    rename: (from, to) => fs.rename(from, to),
    readlink: (path) => fs.readlink(path),
    symlink: (target, path) => fs.symlink(target, path),
    chmod: (path, permissions) => fs.chmod(path, permissions),
  }
}

function posixStat(stat: BigIntStats): PosixStat {
  const type = stat.isFile() ? 'file' : stat.isDirectory() ? 'dir' : stat.isSymbolicLink() ? 'symlink' : 'other'
  // A directory's size and times change with its entries.
  const changeKey =
    type === 'dir'
      ? `${stat.mode} ${stat.ino}`
      : `${stat.mode} ${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`
  return { type, mode: Number(stat.mode), size: Number(stat.size), changeKey }
}
