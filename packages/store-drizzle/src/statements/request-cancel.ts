import { repeatable } from '../database/statement.ts'

/** Notifies in the same transaction: a cancel is rare, and must reach the driver even if this process dies next. */
export const requestCancel = repeatable(`
  with requested as (
    update holdfast.runs set cancel_requested = true, keep_sandbox = $2::boolean
    where run_id = $1 and status in ('running', 'interrupted') and cancel_requested is not true
    returning run_id
  )
  select pg_notify($3::text, $4::text) from requested
`)

export const findCancel = repeatable(`
  select keep_sandbox from holdfast.runs where run_id = $1 and cancel_requested
`)
