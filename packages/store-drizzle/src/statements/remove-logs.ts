import { repeatable } from '../database/statement.ts'

export const findLog = repeatable(`
  select tail, closed_at from holdfast.run_logs
  where run_id = $1 and removed_at is null and (tail > 0 or closed_at is not null)
`)

export const lockLog = repeatable(`select 1 as locked from holdfast.run_logs where run_id = $1 for update`)

/** Runs under the lock on the log, so that it sees every event. A claimed run keeps its row and its fence. The new number parts the old events from those that may follow. */
export const removeLog = repeatable(`
  with log as (
    select run_id, log_id, epoch from holdfast.run_logs where run_id = $1 for update
  ), emptied as (
    delete from holdfast.run_events where log_id in (select log_id from log)
  ), forgotten as (
    delete from holdfast.run_logs where run_id in (select run_id from log where epoch = 0)
  ), fenced as (
    update holdfast.run_logs set log_id = default, tail = 0, last_batch = null, closed_at = null, removed_at = null
    where run_id in (select run_id from log where epoch > 0)
  )
  select pg_notify($2::text, $3::text) from log
`)

/** Oldest first and a bounded number, so that retention never holds many locks. A claimed run's log stays closed. */
export const removeLogsBefore = repeatable(`
  with old as (
    select run_id, log_id, epoch from holdfast.run_logs
    where closed_at is not null and removed_at is null and closed_at < $1::double precision
    order by closed_at
    limit $2::integer
    for update skip locked
  ), emptied as (
    delete from holdfast.run_events where log_id in (select log_id from old)
  ), forgotten as (
    delete from holdfast.run_logs where run_id in (select run_id from old where epoch = 0)
  ), fenced as (
    update holdfast.run_logs set tail = 0, removed_at = holdfast.now_ms()
    where run_id in (select run_id from old where epoch > 0)
  )
  select count(*) as removed from old
`)
