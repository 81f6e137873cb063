import { repeatable } from '../database/statement.ts'

/** Notifies in the same transaction: it happens once a run, and readers must not wait for a process that has died. */
export const closeFenced = repeatable(`
  with closed as (
    update holdfast.run_logs set closed_at = holdfast.now_ms()
    where run_id = $1 and epoch = $2::bigint and closed_at is null
    returning run_id
  )
  select pg_notify($3::text, $4::text) from closed
`)

export const closeUnfenced = repeatable(`
  with closed as (
    insert into holdfast.run_logs as log (run_id, closed_at) values ($1, holdfast.now_ms())
    on conflict (run_id) do update set closed_at = excluded.closed_at where log.epoch = 0 and log.closed_at is null
    returning run_id
  )
  select pg_notify($2::text, $3::text) from closed
`)
