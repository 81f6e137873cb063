import type { SandboxCheckpointStore } from '@holdfast/core'
import type { RunCheckpoints } from './run-checkpoints.ts'

const LIVE = Symbol.for('@holdfast/middleware/run-checkpoints')
const holder = globalThis as { [LIVE]?: WeakMap<SandboxCheckpointStore, Map<string, RunCheckpoints>> }

/** Runs of this process that can be saved right now, by thread. Global, because a bundler may load this module twice. */
const live = (holder[LIVE] ??= new WeakMap())

export function registerRunCheckpoints(store: SandboxCheckpointStore, threadId: string, run: RunCheckpoints): void {
  const threads = live.get(store) ?? new Map<string, RunCheckpoints>()
  live.set(store, threads.set(threadId, run))
}

export function unregisterRunCheckpoints(store: SandboxCheckpointStore, threadId: string, run: RunCheckpoints): void {
  if (live.get(store)?.get(threadId) === run) live.get(store)?.delete(threadId)
}

export function findRunCheckpoints(store: SandboxCheckpointStore, threadId: string): RunCheckpoints | undefined {
  return live.get(store)?.get(threadId)
}
