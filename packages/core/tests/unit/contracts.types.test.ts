import type { LockStore, LockStore as TanStackLockStore } from '@tanstack/ai/locks'
import type { RunStore as TanStackRunStore, StreamDurability } from '@tanstack/ai'
import { expectTypeOf, test } from 'vitest'
import type {
  BlobStore,
  CheckpointEntry,
  EventLog,
  EventOffset,
  FencedLockStore,
  HoldfastStores,
  MemoryLockStore,
  MemoryRunStore,
  RunStore,
  SandboxCapabilities,
  SandboxHandle,
  SandboxInstanceStore,
  SandboxProvider,
} from '../../src/index.ts'

test('stores stand in for those of TanStack', () => {
  expectTypeOf<FencedLockStore>().toExtend<TanStackLockStore>()
  expectTypeOf<MemoryLockStore>().toExtend<LockStore>()
  expectTypeOf<RunStore>().toEqualTypeOf<TanStackRunStore>()
  expectTypeOf<MemoryRunStore>().toExtend<TanStackRunStore>()
  expectTypeOf<EventLog>().toExtend<StreamDurability<EventOffset>>()
  expectTypeOf<HoldfastStores['runs']>().toExtend<TanStackRunStore>()
})

test('a lock of TanStack stands in for ours where nobody needs the lease', () => {
  expectTypeOf<TanStackLockStore>().toExtend<FencedLockStore>()
})

interface PlainFs {
  read: (path: string) => Promise<string>
  readBytes: (path: string) => Promise<Uint8Array>
  write: (path: string, data: string | Uint8Array) => Promise<void>
  list: (path: string) => Promise<{ name: string; path: string; type: 'file' | 'dir' }[]>
  mkdir: (path: string) => Promise<void>
  remove: (path: string) => Promise<void>
  rename: (from: string, to: string) => Promise<void>
  exists: (path: string) => Promise<boolean>
  lstat?: (
    path: string,
  ) => Promise<
    { type: 'file'; mode: number; size: number } | { type: 'dir' | 'symlink' | 'other'; mode: number } | undefined
  >
}

interface PlainProcess {
  exec: (
    command: string,
    options?: { cwd?: string; env?: Record<string, string>; signal?: AbortSignal },
  ) => Promise<{ stdout: string; stderr: string; exitCode: number }>
  spawn: (
    command: string,
    options?: { cwd?: string; env?: Record<string, string>; signal?: AbortSignal },
  ) => Promise<{
    pid: number
    stdout: AsyncIterable<string>
    stderr: AsyncIterable<string>
    stdin: { write: (data: string) => Promise<void>; end: () => Promise<void> }
    wait: () => Promise<number>
    kill: (signal?: NodeJS.Signals | number) => Promise<void>
  }>
}

interface PlainHandle {
  id: string
  provider: string
  workspaceRoot?: string
  fs: PlainFs
  process: PlainProcess
  ports: { connect: (port: number) => Promise<{ url: string; token?: string; headers?: Record<string, string> }> }
  env: { set: (vars: Record<string, string>) => Promise<void> }
  snapshot?: (label?: string) => Promise<{ id: string; label?: string }>
  destroy: () => Promise<void>
}

interface PlainProvider {
  name: string
  capabilities: () => Record<
    | 'fs'
    | 'exec'
    | 'env'
    | 'ports'
    | 'backgroundProcesses'
    | 'writableStdin'
    | 'killableProcesses'
    | 'snapshots'
    | 'networkPolicy'
    | 'durableFilesystem'
    | 'fork',
    boolean
  >
  create: (input: {
    id?: string
    env?: Record<string, string>
    signal?: AbortSignal
    adapterName?: string
  }) => Promise<PlainHandle>
  resume: (input: { id: string; signal?: AbortSignal }) => Promise<PlainHandle | null>
  destroy: (input: { id: string; signal?: AbortSignal }) => Promise<void>
}

test('a sandbox of ours fits the shapes of TanStack, and theirs fits ours', () => {
  expectTypeOf<SandboxHandle>().toExtend<PlainHandle>()
  expectTypeOf<SandboxProvider>().toExtend<PlainProvider>()
  expectTypeOf<PlainFs>().toExtend<SandboxHandle['fs']>()
  expectTypeOf<PlainProcess>().toExtend<SandboxHandle['process']>()
  expectTypeOf<ReturnType<PlainProvider['capabilities']>>().toExtend<SandboxCapabilities>()
})

interface PlainInstanceRecord {
  key: string
  provider: string
  providerSandboxId: string
  latestSnapshotId?: string
  threadId: string
  latestRunId?: string
  updatedAt: number
}

interface PlainInstanceStore {
  get: (key: string) => Promise<PlainInstanceRecord | null>
  upsert: (record: PlainInstanceRecord) => Promise<void>
  delete: (key: string) => Promise<void>
}

test('instances, blobs and checkpoint entries fit the shapes of TanStack', () => {
  expectTypeOf<SandboxInstanceStore>().toExtend<PlainInstanceStore>()
  expectTypeOf<PlainInstanceStore>().toExtend<SandboxInstanceStore>()
  expectTypeOf<{ path: string; kind: 'dir' }>().toExtend<CheckpointEntry>()
  expectTypeOf<{ path: string; kind: 'file'; blobKey: string; size: number }>().toExtend<CheckpointEntry>()
  expectTypeOf<BlobStore['put']>().toBeCallableWith('key', new Blob([]), { expectedLength: 1 })
})
