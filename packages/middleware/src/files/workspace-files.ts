import type { SandboxHandle } from '@holdfast/core'
import { IGNORED_DIRS } from './ignored-dirs.ts'

export interface WorkspaceFile {
  path: string
  type: 'file' | 'dir'
}

export interface WorkspaceFiles {
  files: WorkspaceFile[]
  /** True when there are more than were asked for. */
  truncated: boolean
}

/** The workspace's entries by path, directories before what they hold, at most `maxEntries`. */
export async function workspaceFiles(handle: SandboxHandle, limit: { maxEntries: number }): Promise<WorkspaceFiles> {
  const files: WorkspaceFile[] = []
  const directories = ['.']
  for (let directory = directories.pop(); directory !== undefined; directory = directories.pop()) {
    for (const entry of await handle.fs.list(directory)) {
      if (IGNORED_DIRS.has(entry.name)) continue
      if (files.length >= limit.maxEntries) return { files: sorted(files), truncated: true }
      const path = directory === '.' ? entry.name : `${directory}/${entry.name}`
      files.push({ path, type: entry.type })
      if (entry.type === 'dir') directories.push(path)
    }
  }
  return { files: sorted(files), truncated: false }
}

function sorted(files: WorkspaceFile[]): WorkspaceFile[] {
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}
