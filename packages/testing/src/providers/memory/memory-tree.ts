import { isAbsence } from '../files/file-error.ts'
import { copyNode, newDir, newFile, newLink, nextChangeKey } from './memory-node.ts'
import type { MemoryDir, MemoryFile, MemoryNode } from './memory-node.ts'
import { systemError } from './system-error.ts'

/** As Linux has it. */
const MAX_LINKS = 40
const MAX_NAME_BYTES = 255

/** An entry that exists or could: its directory is real, `node` is what stands there. */
export interface MemoryEntry {
  parent: MemoryDir
  name: string
  /** The canonical path, links followed as far as asked. */
  path: string
  node: MemoryNode | undefined
}

/** A POSIX directory tree in memory. Paths are absolute. Failures carry the system's `code`, `ENOENT` and so on. */
export class MemoryTree {
  readonly root: MemoryDir

  constructor(root: MemoryDir = newDir()) {
    this.root = root
  }

  /** An independent copy. */
  copy(): MemoryTree {
    return new MemoryTree(copyNode(this.root) as MemoryDir)
  }

  /** Follows links; one at the end only with `followLast`. The root's entry is named `''`. */
  locate(path: string, followLast: boolean): MemoryEntry {
    let links = 0
    const pending = path.split('/').filter(Boolean)
    const chain: { name: string; dir: MemoryDir }[] = [{ name: '', dir: this.root }]
    for (;;) {
      const name = pending.shift()
      if (name === undefined) return rootedEntry(chain)
      if (name === '.' || name === '..') {
        if (name === '..' && chain.length > 1) chain.pop()
        continue
      }
      const { dir } = chain.at(-1) as { dir: MemoryDir }
      const node = dir.children.get(name)
      const isLast = pending.length === 0
      if (node?.type === 'symlink' && (!isLast || followLast)) {
        links += 1
        if (links > MAX_LINKS) throw systemError('ELOOP', path)
        if (node.target.startsWith('/')) chain.length = 1
        pending.unshift(...node.target.split('/').filter(Boolean))
        continue
      }
      if (isLast && node?.type !== 'dir') return entryIn(chain, name, node)
      if (node === undefined) throw systemError('ENOENT', path)
      if (node.type !== 'dir') throw systemError('ENOTDIR', path)
      chain.push({ name, dir: node })
    }
  }

  find(path: string, followLast: boolean): MemoryNode {
    const { node } = this.locate(path, followLast)
    if (node === undefined) throw systemError('ENOENT', path)
    return node
  }

  has(path: string): boolean {
    try {
      return this.locate(path, true).node !== undefined
    } catch (error) {
      if (isAbsence(error)) return false
      throw error
    }
  }

  read(path: string): MemoryFile {
    const node = this.find(path, true)
    if (node.type !== 'file') throw systemError('EISDIR', path)
    return node
  }

  dir(path: string): MemoryDir {
    const node = this.find(path, true)
    if (node.type !== 'dir') throw systemError('ENOTDIR', path)
    return node
  }

  /** Creates the file or gives it new content; links are followed, permissions of an existing file are kept. */
  write(path: string, data: Uint8Array): MemoryFile {
    const { parent, name, node } = this.locate(path, true)
    if (node?.type === 'dir') throw systemError('EISDIR', path)
    if (node?.type === 'file') {
      node.data = data
      touch(node)
      return node
    }
    const file = newFile(data)
    this.#put(parent, name, file)
    return file
  }

  mkdir(path: string, isRecursive: boolean): void {
    if (isRecursive) {
      const parentPath = path.slice(0, path.lastIndexOf('/'))
      if (parentPath !== '') this.mkdir(parentPath, true)
    }
    const { parent, name, node } = this.locate(path, true)
    if (node === undefined) this.#put(parent, name, newDir())
    else if (!isRecursive || node.type !== 'dir') throw systemError('EEXIST', path)
  }

  symlink(target: string, path: string): void {
    const { parent, name, node } = this.locate(path, false)
    if (node !== undefined) throw systemError('EEXIST', path)
    this.#put(parent, name, newLink(target))
  }

  remove(path: string, isRecursive: boolean): void {
    const { parent, name, node } = this.locate(path, false)
    if (node === undefined) throw systemError('ENOENT', path)
    if (node.type === 'dir' && node.children.size > 0 && !isRecursive) throw systemError('ENOTEMPTY', path)
    if (node === this.root) throw systemError('EBUSY', path)
    parent.children.delete(name)
    touch(parent)
  }

  rename(from: string, to: string): void {
    const source = this.locate(from, false)
    const target = this.locate(to, false)
    const { node } = source
    if (node === undefined) throw systemError('ENOENT', from)
    if (`${target.path}/`.startsWith(`${source.path}/`)) {
      if (source.path === target.path) return
      throw systemError('EINVAL', to)
    }
    if (node.type === 'dir') {
      if (target.node !== undefined && target.node.type !== 'dir') throw systemError('ENOTDIR', to)
      if (target.node !== undefined && target.node.children.size > 0) throw systemError('ENOTEMPTY', to)
    } else if (target.node?.type === 'dir') throw systemError('EISDIR', to)
    source.parent.children.delete(source.name)
    touch(source.parent)
    this.#put(target.parent, target.name, node)
  }

  /** Gives one file a second name. */
  link(existing: string, path: string): void {
    const node = this.find(existing, true)
    if (node.type === 'dir') throw systemError('EPERM', existing)
    const entry = this.locate(path, false)
    if (entry.node !== undefined) throw systemError('EEXIST', path)
    this.#put(entry.parent, entry.name, node)
  }

  #put(parent: MemoryDir, name: string, node: MemoryNode): void {
    if (Buffer.byteLength(name) > MAX_NAME_BYTES) throw systemError('ENAMETOOLONG', name)
    parent.children.set(name, node)
    touch(parent)
  }
}

/** Marks a node as changed now. A directory's key does not tell of its entries. */
export function touch(node: MemoryNode): void {
  node.mtime = Date.now()
  if (node.type !== 'dir') node.key = nextChangeKey()
}

type Chain = readonly { name: string; dir: MemoryDir }[]

function pathOf(chain: Chain): string {
  return chain.map(({ name }) => name).join('/')
}

function entryIn(chain: Chain, name: string, node: MemoryNode | undefined): MemoryEntry {
  const { dir } = chain.at(-1) as { dir: MemoryDir }
  return { parent: dir, name, path: `${pathOf(chain)}/${name}`, node }
}

/** The entry of the directory at the end of the chain. */
function rootedEntry(chain: Chain): MemoryEntry {
  const { name, dir } = chain.at(-1) as { name: string; dir: MemoryDir }
  return { parent: chain.at(-2)?.dir ?? dir, name, path: pathOf(chain) || '/', node: dir }
}
