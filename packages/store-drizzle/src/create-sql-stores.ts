import type { BlobStore, Clock, HoldfastStores } from '@holdfast/core'
import { FileBlobStore } from './content/file-blob-store.ts'
import { SqlArtifactStore } from './content/sql-artifact-store.ts'
import { SqlBlobStore } from './content/sql-blob-store.ts'
import { SqlCheckpointStore } from './content/sql-checkpoint-store.ts'
import { Database } from './database/database.ts'
import type { SqlConnection } from './database/sql-executor.ts'
import { repeatable } from './database/statement.ts'
import { SqlLockStore } from './locks/sql-lock-store.ts'
import type { SqlLockStoreOptions } from './locks/sql-lock-store.ts'
import { storeMaintenance } from './maintenance/store-maintenance.ts'
import type { StoreMaintenance } from './maintenance/store-maintenance.ts'
import { SqlDriverStore } from './runs/sql-driver-store.ts'
import { SqlEventLogStore } from './runs/sql-event-log-store.ts'
import { SqlRunStore } from './runs/sql-run-store.ts'
import { SqlInstanceStore } from './sandboxes/sql-instance-store.ts'
import { notifyWakes } from './statements/notify-wakes.ts'
import { sweepTopics } from './statements/sweep-topics.ts'
import type { StoreContext } from './store-context.ts'
import { text } from './database/row.ts'
import { SqlInterruptStore } from './threads/sql-interrupt-store.ts'
import { SqlMessageStore } from './threads/sql-message-store.ts'
import { SqlMetadataStore } from './threads/sql-metadata-store.ts'
import { SqlThreadStore } from './threads/sql-thread-store.ts'
import { WakeHub } from './wake/wake-hub.ts'
import type { WakeRemote } from './wake/wake-hub.ts'
import { wakeChannel } from './wake/wake-topic.ts'
import type { WakeKind } from './wake/wake-topic.ts'

/** The stores, and what an operator needs beside them. */
export interface SqlStores extends HoldfastStores {
  readonly maintenance: StoreMaintenance
}

export interface SqlStoresInput {
  backend: string
  schema: string
  clock: Clock
  locks: SqlLockStoreOptions
  /** Largest blob. */
  maxBlobBytes?: number
  open: () => Promise<SqlConnection>
  /** Where bytes are kept when not in the database. */
  blobs?: (assertOpen: () => void) => BlobStore
  /** Left out where no other process can write. */
  remote?: (channel: string, notify: (channel: string, payload: string) => Promise<void>) => WakeRemote
}

const ping = repeatable('select 1 as alive from holdfast.migrations limit 1')

/** Every store on one connection. Nothing is opened before the first call. */
export function createSqlStores(input: SqlStoresInput): SqlStores {
  const { backend, schema, clock } = input
  const db = new Database(schema, input.open)
  const channel = wakeChannel(schema)
  const hub = wakeHub(db, input, channel)
  const context: StoreContext = { db, hub, clock, channel }
  const blobs = input.blobs?.(() => db.assertOpen()) ?? new SqlBlobStore(context, input)
  return {
    backend,
    maintenance: storeMaintenance(db, schema, blobs instanceof FileBlobStore ? blobs : undefined),
    runs: new SqlRunStore(context),
    drivers: new SqlDriverStore(context),
    eventLog: new SqlEventLogStore(context),
    instances: new SqlInstanceStore(context),
    locks: new SqlLockStore(context, input.locks),
    threads: new SqlThreadStore(context),
    messages: new SqlMessageStore(context),
    interrupts: new SqlInterruptStore(context),
    metadata: new SqlMetadataStore(context),
    blobs,
    artifacts: new SqlArtifactStore(context),
    checkpoints: new SqlCheckpointStore(context),
    ping: async () => {
      await db.rows(ping)
    },
    close: async () => {
      db.beginClose()
      try {
        await hub.close()
      } finally {
        await db.close()
      }
    },
  }
}

function wakeHub(db: Database, { clock, remote }: SqlStoresInput, channel: string): WakeHub {
  const notify = async (target: string, payload: string): Promise<void> => {
    await db.lastRows(notifyWakes, [target, payload])
  }
  return new WakeHub({
    clock,
    ...(remote !== undefined && { remote: remote(channel, notify) }),
    sweep: async (topics) => {
      const rows = await db.rows(sweepTopics, [JSON.stringify(topics)])
      return rows.map((row) => ({ kind: text(row, 'kind') as WakeKind, id: text(row, 'id') }))
    },
  })
}
