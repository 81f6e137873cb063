import type { SandboxArchive } from '@holdfast/core'
import { confinedEntries, readArchive, writeArchive } from '@holdfast/core/provider-kit'
import type { ArchiveEntry, UnpackPlan } from '@holdfast/core/provider-kit'
import type { MemoryNode } from './memory-node.ts'
import { newDir, newFile, newLink } from './memory-node.ts'
import type { MemoryTree } from './memory-tree.ts'

/** Archives of a tree in memory. */
export function memoryArchive(tree: MemoryTree, root: string): SandboxArchive {
  return {
    pack: async (paths) => writeArchive(paths.flatMap((path) => packedEntry(tree, root, path))),
    unpack: async (archive, { signal } = {}) => {
      const plan: UnpackPlan = { parents: new Set(), dirs: new Map(), leaves: new Set() }
      const nodes: [path: string, node: MemoryNode][] = []
      for await (const entry of confinedEntries(readArchive(archive), plan)) {
        signal?.throwIfAborted()
        nodes.push([entry.path, await unpackedNode(entry)])
      }
      for (const parent of plan.parents) makeDirectory(tree, `${root}/${parent}`)
      for (const [path, node] of nodes) place(tree, `${root}/${path}`, node)
    },
  }
}

/** None when the path vanished, or leads through a link. */
function packedEntry(tree: MemoryTree, root: string, path: string): ArchiveEntry[] {
  const at = path === '.' ? root : `${root}/${path}`
  if (!tree.has(at.slice(0, at.lastIndexOf('/')) || '/')) return []
  const { node, path: real } = tree.locate(at, false)
  if (node === undefined || real !== at) return []
  if (node.type === 'symlink') return [{ path, kind: 'symlink', target: node.target }]
  if (node.type === 'dir') return [{ path, kind: 'dir', mode: node.permissions }]
  const body = new Blob([node.data as Uint8Array<ArrayBuffer>]).stream()
  return [{ path, kind: 'file', size: node.data.length, mode: node.permissions, body }]
}

async function unpackedNode(entry: ArchiveEntry): Promise<MemoryNode> {
  switch (entry.kind) {
    case 'file':
      return newFile(new Uint8Array(await new Response(entry.body).arrayBuffer()), entry.mode)
    case 'dir':
      return newDir(entry.mode)
    case 'symlink':
      return newLink(entry.target)
  }
}

/** A file or link in the way is removed, so that nothing is written through it. */
function makeDirectory(tree: MemoryTree, path: string): MemoryNode {
  const { parent, name, node } = tree.locate(path, false)
  if (node?.type === 'dir') return node
  const made = newDir()
  parent.children.set(name, made)
  return made
}

function place(tree: MemoryTree, path: string, node: MemoryNode): void {
  if (node.type === 'dir') {
    const dir = makeDirectory(tree, path)
    if (dir.type === 'dir') dir.permissions = node.permissions
    return
  }
  const { parent, name } = tree.locate(path, false)
  parent.children.set(name, node)
}
