import type { ArtifactStore } from './content/artifact-store.ts'
import type { BlobStore } from './content/blob-store.ts'
import type { SandboxCheckpointStore } from './content/checkpoint-store.ts'
import type { FencedLockStore } from './coordination/lock-store.ts'
import type { DriverStore } from './runs/driver-store.ts'
import type { EventLogStore } from './runs/event-log.ts'
import type { RunStore } from './runs/run-record.ts'
import type { SandboxInstanceStore } from './sandbox/sandbox-instance-store.ts'
import type { InterruptStore } from './threads/interrupt-store.ts'
import type { MessageStore } from './threads/message-store.ts'
import type { MetadataStore } from './threads/metadata-store.ts'
import type { StoreMaintenance } from './store-maintenance.ts'
import type { ThreadStore } from './threads/thread-store.ts'

/** Every store that an app needs, on one backend. `runs`, `drivers` and `eventLog` share their records. */
export interface HoldfastStores {
  runs: RunStore
  drivers: DriverStore
  eventLog: EventLogStore
  instances: SandboxInstanceStore
  locks: FencedLockStore
  threads: ThreadStore
  messages: MessageStore
  interrupts: InterruptStore
  metadata: MetadataStore
  blobs: BlobStore
  artifacts: ArtifactStore
  checkpoints: SandboxCheckpointStore
  /** Retention, where the backend has it. */
  readonly maintenance?: StoreMaintenance
  /** Name for health pages: `memory`, `pglite`, `postgres`. */
  readonly backend: string
  /** One cheap read; rejects when the store does not work. */
  ping: () => Promise<void>
  /** Waits for what runs, then lets go. Later calls reject with `STORE_CLOSED`. Repeatable. */
  close: () => Promise<void>
}
