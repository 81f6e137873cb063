import type { HoldfastStores } from '../stores.ts'
import type { CheckpointWriterOptions } from '../content/checkpoint-writer-times.ts'
import { MemoryArtifactStore } from './memory-artifact-store.ts'
import { MemoryBlobStore } from './memory-blob-store.ts'
import type { MemoryBlobStoreOptions } from './memory-blob-store.ts'
import { MemoryCheckpointStore } from './memory-checkpoint-store.ts'
import { MemoryDriverStore } from './memory-driver-store.ts'
import { MemoryEventLogStore } from './memory-event-log-store.ts'
import { MemoryInstanceStore } from './memory-instance-store.ts'
import { MemoryInterruptStore } from './memory-interrupt-store.ts'
import { MemoryLockStore } from './memory-lock-store.ts'
import { MemoryMaintenance } from './memory-maintenance.ts'
import { MemoryMessageStore } from './memory-message-store.ts'
import { MemoryMetadataStore } from './memory-metadata-store.ts'
import { MemoryRunStore } from './memory-run-store.ts'
import { MemoryState } from './memory-state.ts'
import type { MemoryStateOptions } from './memory-state.ts'
import { MemoryThreadStore } from './memory-thread-store.ts'

/** How the in-memory stores measure time, and how much they keep. */
export interface MemoryStoresOptions extends MemoryStateOptions, MemoryBlobStoreOptions, CheckpointWriterOptions {}

/**
 * Every store in the memory of this process, for one process and for tests. What it holds is lost with the process;
 * closed event logs and ended runs are forgotten by `retention`, so that a long-lived process stays flat.
 */
export function createMemoryStores(options: MemoryStoresOptions = {}): HoldfastStores {
  const state = new MemoryState(options)
  return {
    backend: 'memory',
    runs: new MemoryRunStore(state),
    drivers: new MemoryDriverStore(state),
    eventLog: new MemoryEventLogStore(state),
    instances: new MemoryInstanceStore(state),
    locks: new MemoryLockStore(state),
    threads: new MemoryThreadStore(state),
    messages: new MemoryMessageStore(state),
    interrupts: new MemoryInterruptStore(state),
    metadata: new MemoryMetadataStore(state),
    blobs: new MemoryBlobStore(state, options),
    artifacts: new MemoryArtifactStore(state),
    checkpoints: new MemoryCheckpointStore(state, options),
    maintenance: new MemoryMaintenance(state),
    ping: async () => state.assertOpen(),
    close: async () => state.close(),
  }
}
