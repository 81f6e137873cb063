import { repeatable } from '../database/statement.ts'

/** Batches and the log's state come from one snapshot, so that "closed" is never seen before the last batch. */
export const readEvents = repeatable(`
  with log as (
    select log_id, tail, closed_at from holdfast.run_logs where run_id = $1
  ), page as (
    select first_seq, event_count, payload,
      sum(octet_length(payload)) over (order by first_seq) - octet_length(payload) as bytes_before
    from (
      select first_seq, event_count, payload from holdfast.run_events
      where log_id = (select log_id from log) and first_seq >= coalesce((
        select max(first_seq) from holdfast.run_events
        where log_id = (select log_id from log) and first_seq <= $2::bigint + 1), 0)
      order by first_seq
      limit $3::integer
    ) batch
  )
  select log.log_id, log.tail, log.closed_at, page.first_seq, page.event_count, page.payload
  from log left join page on page.bytes_before < $4::bigint
  order by page.first_seq
`)
