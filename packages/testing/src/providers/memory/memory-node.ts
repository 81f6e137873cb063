/** One inode of a `MemoryTree`. `key` is its change key: new for every change. */
export type MemoryNode = MemoryFile | MemoryDir | MemoryLink

export interface MemoryFile {
  readonly type: 'file'
  permissions: number
  data: Uint8Array
  mtime: number
  key: string
}

export interface MemoryDir {
  readonly type: 'dir'
  permissions: number
  readonly children: Map<string, MemoryNode>
  mtime: number
  key: string
}

export interface MemoryLink {
  readonly type: 'symlink'
  readonly target: string
  readonly permissions: number
  mtime: number
  key: string
}

const FILE_PERMISSIONS = 0o644
const DIR_PERMISSIONS = 0o755
const LINK_PERMISSIONS = 0o777

let changes = 0

/** Unique in this process. */
export function nextChangeKey(): string {
  changes += 1
  return String(changes)
}

export function newFile(data: Uint8Array, permissions: number = FILE_PERMISSIONS): MemoryFile {
  return { type: 'file', permissions, data, mtime: Date.now(), key: nextChangeKey() }
}

export function newDir(permissions: number = DIR_PERMISSIONS): MemoryDir {
  return { type: 'dir', permissions, children: new Map(), mtime: Date.now(), key: nextChangeKey() }
}

export function newLink(target: string): MemoryLink {
  return { type: 'symlink', target, permissions: LINK_PERMISSIONS, mtime: Date.now(), key: nextChangeKey() }
}

/** A deep copy. File contents are shared: they are replaced, never changed in place. */
export function copyNode(node: MemoryNode): MemoryNode {
  if (node.type !== 'dir') return { ...node, key: nextChangeKey() }
  const copy = newDir(node.permissions)
  for (const [name, child] of node.children) copy.children.set(name, copyNode(child))
  return copy
}
