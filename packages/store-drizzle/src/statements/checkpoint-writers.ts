import { repeatable } from '../database/statement.ts'

/** The fence grows by the row, which stays when the lease ends. Keeping the owner makes a lost reply repeatable. */
export const acquireWriter = repeatable(`
  insert into holdfast.checkpoint_heads as head (thread_id, writer_owner, writer_fence, writer_expires_at)
  select $1, $2::uuid, 1, now + $3::double precision from (select holdfast.now_ms() as now) as clock
  on conflict (thread_id) do update set
    writer_owner = excluded.writer_owner, writer_fence = head.writer_fence + 1,
    writer_expires_at = excluded.writer_expires_at
  where head.writer_owner is null or head.writer_owner = excluded.writer_owner
    or head.writer_expires_at <= excluded.writer_expires_at - $3::double precision
    or $4::boolean
  returning writer_fence, writer_expires_at
`)

/** An expired lease is over, also when nobody took it: its holder may have stopped saving already. */
export const renewWriter = repeatable(`
  update holdfast.checkpoint_heads set writer_expires_at = holdfast.now_ms() + $4::double precision
  where thread_id = $1 and writer_owner = $2::uuid and writer_fence = $3::bigint
    and writer_expires_at > holdfast.now_ms()
  returning writer_expires_at
`)

export const releaseWriter = repeatable(`
  update holdfast.checkpoint_heads set writer_owner = null, writer_expires_at = 0
  where thread_id = $1 and writer_owner = $2::uuid and writer_fence = $3::bigint
`)

const WRITER_IS_LIVE = `writer_owner = $2::uuid and writer_fence = $3::bigint and writer_expires_at > holdfast.now_ms()`

export const checkWriter = repeatable(`
  select 1 as is_held from holdfast.checkpoint_heads where thread_id = $1 and ${WRITER_IS_LIVE}
`)

/** Holds the head while a chain is changed, and tells what it is. */
export const lockHead = repeatable(`
  select head_id, coalesce(${WRITER_IS_LIVE}, false) as is_writer
  from holdfast.checkpoint_heads where thread_id = $1
  for update
`)
