import type { Clock, SandboxBackendHandle } from '@holdfast/core'
import { ConfinedFs } from '../files/confined-fs.ts'
import type { TreeWatcher } from '../files/tree-watcher.ts'
import { memoryArchive } from './memory-archive.ts'
import { memoryFiles } from './memory-files.ts'
import { MemoryRunner } from './memory-runner.ts'
import { MemoryTree } from './memory-tree.ts'

const WORKSPACE = '/workspace'
const HOME = '/home/user'
const DIRECTORIES = [WORKSPACE, HOME, '/tmp', '/bin', '/usr/bin']

export interface MemorySandboxOptions {
  id: string
  labels: Record<string, string>
  clock: Clock
  /** A fresh one when left out. */
  tree?: MemoryTree
}

/** One sandbox in memory: its files, and what runs on them. */
export class MemorySandbox {
  readonly id: string
  readonly labels: Record<string, string>
  readonly createdAt: number
  readonly tree: MemoryTree
  readonly runner: MemoryRunner
  state: 'running' | 'stopped' = 'running'

  constructor(options: MemorySandboxOptions) {
    this.id = options.id
    this.labels = options.labels
    this.createdAt = options.clock.now()
    this.tree = options.tree ?? new MemoryTree()
    for (const path of DIRECTORIES) this.tree.mkdir(path, true)
    const baseEnv = { HOME, PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' }
    this.runner = new MemoryRunner({ tree: this.tree, root: WORKSPACE, baseEnv, clock: options.clock })
  }

  /** Ends what runs and removes the files, so that older handles find nothing. */
  async destroy(): Promise<void> {
    if (this.tree.has(WORKSPACE)) this.tree.remove(WORKSPACE, true)
    await this.runner.stopAll()
  }

  handle(calls: {
    watcher: TreeWatcher
    snapshot: NonNullable<SandboxBackendHandle['snapshot']>
    fork: NonNullable<SandboxBackendHandle['fork']>
    destroy: () => Promise<void>
  }): SandboxBackendHandle {
    const { watcher, ...rest } = calls
    return {
      id: this.id,
      workspaceRoot: WORKSPACE,
      fs: new ConfinedFs({ files: memoryFiles(this.tree), root: WORKSPACE, watcher }),
      archive: memoryArchive(this.tree, WORKSPACE),
      exec: (command, options) => this.runner.exec(command, options),
      spawn: (command, options) => this.runner.spawn(command, options),
      ...rest,
    }
  }
}
