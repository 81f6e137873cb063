import { repeatable } from '../database/statement.ts'

export const countRecords = repeatable(`
  select (select holdfast.now_ms()) as now,
    (select count(*) from holdfast.threads) as threads,
    (select count(*) from holdfast.runs where status = 'running') as running_runs,
    (select count(*) from holdfast.runs where holds_thread) as driven_runs,
    (select count(*) from holdfast.runs where holds_thread and detached_since is null
      and lease_expires_at < (select holdfast.now_ms())) as orphaned_runs,
    (select count(*) from holdfast.runs where status = 'running' and detached_since is not null) as detached_runs,
    (select count(*) from holdfast.runs) as runs,
    (select count(*) from holdfast.run_logs where closed_at is null and tail > 0) as open_logs,
    (select count(*) from holdfast.run_logs where closed_at is not null and removed_at is null) as closed_logs,
    (select count(*) from holdfast.locks where owner is not null and expires_at > (select holdfast.now_ms())) as held_locks,
    (select count(*) from holdfast.lock_waiters) as lock_waiters,
    (select count(*) from holdfast.checkpoint_heads where writer_expires_at > (select holdfast.now_ms())) as checkpoint_writers,
    (select count(*) from holdfast.checkpoints) as checkpoints,
    (select count(*) from holdfast.sandbox_instances) as sandbox_instances,
    (select count(*) from holdfast.blobs) as blobs,
    (select coalesce(sum(size), 0) from holdfast.blobs) as blob_bytes
`)

export const sizeTables = repeatable(`
  select relname as table_name, pg_total_relation_size(pg_class.oid) as bytes
  from pg_class where relnamespace = $1::text::regnamespace and relkind = 'r'
  order by bytes desc, relname
`)
