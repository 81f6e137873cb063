import type {
  Clock,
  SandboxArchive,
  SandboxBackendHandle,
  SandboxChannel,
  SandboxSnapshotRef,
  SandboxTerminals,
} from '@holdfast/core'
import { ConfinedFs } from '../files/confined-fs.ts'
import type { TreeWatcher } from '../files/tree-watcher.ts'
import { hostFiles } from './host-files.ts'
import { processArchive } from './process-archive.ts'
import { ProcessRunner } from './process-runner.ts'
import { ProcessTerminals } from './process-terminals.ts'
import type { SandboxPaths, SandboxRecord } from './sandbox-directory.ts'

export interface ProcessHandleOptions {
  record: SandboxRecord
  paths: SandboxPaths
  clock: Clock
  watcher: TreeWatcher
  snapshot: (label?: string) => Promise<SandboxSnapshotRef>
  fork: () => Promise<SandboxBackendHandle>
  destroy: () => Promise<void>
}

/** One sandbox directory, with the processes that run in it. */
export class ProcessHandle implements SandboxBackendHandle {
  readonly id: string
  readonly workspaceRoot: string
  readonly fs: ConfinedFs
  readonly archive: SandboxArchive
  readonly terminal: SandboxTerminals
  readonly exec: SandboxBackendHandle['exec']
  readonly spawn: SandboxBackendHandle['spawn']
  readonly snapshot: ProcessHandleOptions['snapshot']
  readonly fork: ProcessHandleOptions['fork']
  readonly destroy: ProcessHandleOptions['destroy']

  constructor(options: ProcessHandleOptions) {
    const { record, paths, watcher } = options
    const baseEnv = sandboxEnv(paths)
    const runner = new ProcessRunner({
      instance: record.instance,
      root: paths.workspace,
      baseEnv,
      stagingDir: paths.staging,
      clock: options.clock,
    })
    this.id = record.id
    this.workspaceRoot = paths.workspace
    this.fs = new ConfinedFs({ files: hostFiles(paths.staging), root: paths.workspace, watcher })
    this.archive = processArchive(runner, paths)
    this.terminal = new ProcessTerminals({
      instance: record.instance,
      baseEnv,
      workspaceRoot: paths.workspace,
    })
    this.exec = (command, how) => runner.exec(command, how)
    this.spawn = (command, how) => runner.spawn(command, how)
    this.snapshot = options.snapshot
    this.fork = options.fork
    this.destroy = options.destroy
  }

  async connectPort(port: number): Promise<SandboxChannel> {
    return { url: `http://127.0.0.1:${port}` }
  }
}

/** Nothing of the host's own environment but where its programs are: the rest may hold credentials. */
function sandboxEnv(paths: SandboxPaths): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: paths.home,
    TMPDIR: paths.temporary,
    LANG: 'C.UTF-8',
  }
}
