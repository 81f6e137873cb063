import { repeatable } from '../database/statement.ts'

/**
 * Arbitrated by two indexes, the run's key and the thread's holder, because a check before the write would race. The
 * log's row gets the epoch in the same statement: from then on an older append finds another number there.
 */
export const claimRun = repeatable(`
  with input as (
    select holdfast.now_ms() as now,
      coalesce((select epoch from holdfast.run_logs where run_id = $1), 0) as fence
  ), claimed as (
    insert into holdfast.runs as run (run_id, thread_id, status, started_at, sandbox_key,
      driver_epoch, driver_owner, lease_expires_at, holds_thread)
    select $1, $2, 'running', now, $5, fence + 1, $3, now + $4::double precision, true from input
    on conflict (run_id) do update set
      status = 'running',
      finished_at = null,
      sandbox_key = coalesce(excluded.sandbox_key, run.sandbox_key),
      detached_since = null,
      driver_epoch = greatest(coalesce(run.driver_epoch, 0) + 1, excluded.driver_epoch),
      driver_owner = excluded.driver_owner,
      lease_expires_at = excluded.lease_expires_at,
      holds_thread = true
    where run.thread_id = excluded.thread_id
      and run.status in ('running', 'interrupted')
      and ($6::boolean or run.cancel_requested is not true)
      and (run.driver_owner is null or run.driver_owner = excluded.driver_owner
        or run.lease_expires_at <= excluded.started_at)
    returning run_id, driver_epoch, lease_expires_at, xmax = 0 as created
  ), fenced as (
    insert into holdfast.run_logs as log (run_id, epoch)
    select run_id, driver_epoch from claimed
    on conflict (run_id) do update set epoch = greatest(log.epoch, excluded.epoch)
  )
  select driver_epoch, lease_expires_at, created from claimed
`)
