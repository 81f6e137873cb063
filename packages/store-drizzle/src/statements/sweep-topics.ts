import { repeatable } from '../database/statement.ts'

/** One query for everybody who waits, because a query per waiter would grow with the number of open pages. */
export const sweepTopics = repeatable(`
  select topic.kind, topic.id
  from json_to_recordset($1::text::json) as topic(kind text, id text, known double precision)
  where case topic.kind
    when 'log' then coalesce((
      select log.tail <> topic.known or log.closed_at is not null from holdfast.run_logs log where log.run_id = topic.id
    ), topic.known > 0)
    when 'cancel' then exists (select from holdfast.runs run where run.run_id = topic.id and run.cancel_requested)
    else exists (
      select from holdfast.locks lock
      where lock.key = topic.id and (lock.owner is null or lock.expires_at <= holdfast.now_ms()))
  end
`)
