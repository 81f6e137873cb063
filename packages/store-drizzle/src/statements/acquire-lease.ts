import { repeatable } from '../database/statement.ts'

/**
 * Takes the lock, or a place in the line, in one statement. Whoever came first goes first, unless the lock has been free
 * for a while: then the first in line has died. Who goes ahead of somebody shortens that one's stay, so that the dead hold
 * the line up once or twice; one that lives and was only slow prolongs it by the next try, and keeps its place. A new key
 * starts at the time, so that its token is above those of an earlier row of that key.
 */
export const acquireLease = repeatable(`
  with input as (
    select holdfast.now_ms() as now, (select ticket from holdfast.lock_waiters where waiter = $2::uuid) as ticket,
      (select expires_at from holdfast.locks where key = $1) as free_since
  ), taken as (
    insert into holdfast.locks as lock (key, token, owner, expires_at)
    select $1, now::bigint, $2::uuid, now + $3::double precision from input
    on conflict (key) do update set
      token = lock.token + 1, owner = excluded.owner, expires_at = excluded.expires_at
    where (lock.owner is null or lock.owner = excluded.owner or lock.expires_at <= (select now from input))
      and (lock.expires_at <= (select now from input) - $5::double precision or not exists (
        select from holdfast.lock_waiters waiter, input
        where waiter.key = $1 and waiter.waiter <> $2::uuid and waiter.expires_at > input.now
          and (input.ticket is null or waiter.ticket < input.ticket)))
    returning token
  ), queued as (
    insert into holdfast.lock_waiters (waiter, key, expires_at)
    select $2::uuid, $1, now + $4::double precision from input where not exists (select from taken)
    on conflict (waiter) do update set expires_at = excluded.expires_at
  ), doubted as (
    update holdfast.lock_waiters waiter set expires_at = input.now + $6::double precision
    from input
    where waiter.key = $1 and exists (select from taken) and input.free_since <= input.now - $5::double precision
      and waiter.waiter <> $2::uuid and (input.ticket is null or waiter.ticket < input.ticket)
      and waiter.expires_at > input.now + $6::double precision
      and waiter.expires_at - $4::double precision <= input.free_since
  ), left_line as (
    delete from holdfast.lock_waiters
    where key = $1 and exists (select from taken)
      and (waiter = $2::uuid or expires_at < (select now from input) - $4::double precision)
  )
  select taken.token, lock.expires_at - (select now from input) as remaining_ms
  from (select) as always
  left join taken on true
  left join holdfast.locks lock on lock.key = $1
`)
