import { once, repeatable } from '../database/statement.ts'

/**
 * One row per batch and one row lock: the update of the log's row both orders the batches and meets the claim that
 * raises the epoch. The batch's id makes a try after a lost reply harmless, because one driver appends in order.
 */
export const appendFenced = repeatable(`
  with advanced as (
    update holdfast.run_logs set tail = tail + $3::integer, last_batch = $4::uuid
    where run_id = $1 and epoch = $2::bigint and closed_at is null and last_batch is distinct from $4::uuid
    returning log_id, tail
  )
  insert into holdfast.run_events (log_id, first_seq, event_count, payload)
  select log_id, tail - $3::integer + 1, $3::integer, $5 from advanced
  returning first_seq + event_count - 1 as tail
`)

/** While nobody has claimed the run, several hosts may append, so a lost reply cannot be settled by the last batch. */
export const appendUnfenced = once(`
  with advanced as (
    insert into holdfast.run_logs as log (run_id, tail, last_batch) values ($1, $2::integer, $3::uuid)
    on conflict (run_id) do update set tail = log.tail + excluded.tail, last_batch = excluded.last_batch
    where log.epoch = 0 and log.closed_at is null
    returning log_id, tail
  )
  insert into holdfast.run_events (log_id, first_seq, event_count, payload)
  select log_id, tail - $2::integer + 1, $2::integer, $4 from advanced
  returning first_seq + event_count - 1 as tail
`)

/** Why an append was refused. Only a refused append pays for it. */
export const inspectLog = repeatable(`
  select epoch, tail, last_batch, closed_at from holdfast.run_logs where run_id = $1
`)
