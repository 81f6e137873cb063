import type { PosixFiles, PosixStat } from '../files/posix-files.ts'
import type { MemoryNode } from './memory-node.ts'
import { touch } from './memory-tree.ts'
import type { MemoryTree } from './memory-tree.ts'
import { systemError } from './system-error.ts'

const TYPE_BITS = { file: 0o100000, dir: 0o040000, symlink: 0o120000 }

/** A tree in memory as a file system. */
export function memoryFiles(tree: MemoryTree): PosixFiles {
  return {
    stat: async (path) => posixStat(tree.find(path, true)),
    lstat: async (path) => posixStat(tree.find(path, false)),
    readFile: async (path) => tree.read(path).data.slice(),
    replaceFile: async (path, data, permissions) => {
      const file = tree.write(path, data.slice())
      if (permissions !== undefined) file.permissions = permissions
    },
    readdir: async (path) =>
      [...tree.dir(path).children].map(([name, node]) => ({ name, isDirectory: node.type === 'dir' })),
    mkdir: async (path) => tree.mkdir(path, true),
    rm: async (path) => tree.remove(path, true),
    rename: async (from, to) => tree.rename(from, to),
    readlink: async (path) => {
      const node = tree.find(path, false)
      if (node.type !== 'symlink') throw systemError('EINVAL', path)
      return node.target
    },
    symlink: async (target, path) => tree.symlink(target, path),
    chmod: async (path, permissions) => {
      const node = tree.find(path, true)
      if (node.type === 'symlink') return
      node.permissions = permissions
      touch(node)
    },
  }
}

function posixStat(node: MemoryNode): PosixStat {
  return {
    type: node.type,
    mode: TYPE_BITS[node.type] | node.permissions,
    size: node.type === 'file' ? node.data.length : 0,
    changeKey: `${node.key} ${node.permissions}`,
  }
}
