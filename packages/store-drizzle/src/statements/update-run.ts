import { repeatable } from '../database/statement.ts'

/**
 * Each field travels as value and "is in the patch", because left out and cleared are different. Leaving \`running\`
 * frees thread and lease. The log's fence follows the record's epoch, but never goes back.
 */
export const updateRun = repeatable(`
  with updated as (
    update holdfast.runs set
      status = case when $2::boolean then $3::text else status end,
      finished_at = case when $4::boolean then $5::double precision else finished_at end,
      error = case when $6::boolean then $7::text else error end,
      usage = case when $8::boolean then $9::text else usage end,
      sandbox_key = case when $10::boolean then $11::text else sandbox_key end,
      detached_since = case when $12::boolean then $13::double precision else detached_since end,
      cancel_requested = case when $14::boolean then $15::boolean else cancel_requested end,
      driver_epoch = case when $16::boolean then $17::bigint else driver_epoch end,
      holds_thread = holds_thread and (not $2::boolean or $3::text = 'running'),
      lease_expires_at = case
        when $2::boolean and $3::text <> 'running' then least(lease_expires_at, holdfast.now_ms())
        else lease_expires_at
      end
    where run_id = $1
    returning run_id
  ), fenced as (
    insert into holdfast.run_logs as log (run_id, epoch)
    select run_id, $17::bigint from updated where $17::bigint is not null
    on conflict (run_id) do update set epoch = greatest(log.epoch, excluded.epoch)
  )
  select pg_notify($18::text, $19::text) from updated where $15::boolean
`)
