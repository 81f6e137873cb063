import { createHash } from 'node:crypto'
import type { CheckpointWorkspace } from '../workspace/checkpoint-workspace.ts'
import { hashFiles } from '../workspace/hash-files.ts'
import { readFiles } from '../workspace/read-files.ts'

/** SHA-256 by path: by the sandbox's tool, else of the bytes it sends. */
export async function contentHashes(
  workspace: CheckpointWorkspace,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const told = await hashFiles(workspace, paths)
  if (told !== undefined) return told
  const hashes = new Map<string, string>()
  const files = paths.map((path) => ({ path, kind: 'file' as const, mode: 0, size: 0 }))
  for await (const entry of readFiles(workspace, files)) {
    if (entry.kind !== 'file') continue
    const hash = createHash('sha256')
    for await (const piece of entry.body) hash.update(piece)
    hashes.set(entry.path, hash.digest('hex'))
  }
  return hashes
}
