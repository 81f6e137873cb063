import { repeatable } from '../database/statement.ts'

/** An expired lease that nobody took is still this owner's: the token stands in the condition. */
export const renewLease = repeatable(`
  update holdfast.locks set expires_at = holdfast.now_ms() + $4::double precision
  where key = $1 and owner = $2::uuid and token = $3::bigint
  returning token
`)

/** Leaves the line too, and notifies those who are in it. A stale owner frees nothing. */
export const releaseLease = repeatable(`
  with left_line as (
    delete from holdfast.lock_waiters where waiter = $2::uuid
  ), freed as (
    update holdfast.locks set owner = null, expires_at = least(expires_at, holdfast.now_ms())
    where key = $1 and owner = $2::uuid
    returning key
  )
  select pg_notify($3::text, $4::text), 1 as is_notified
  where exists (select from holdfast.lock_waiters where key = $1 and waiter <> $2::uuid)
`)
