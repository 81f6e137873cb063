import { repeatable } from '../database/statement.ts'

const COLUMNS = 'thread_id, owner_id, title, created_at, updated_at'

/** Makes or finds the thread in one statement; the caller compares the owner. */
export const ensureThread = repeatable(`
  with created as (
    insert into holdfast.threads (${COLUMNS})
    select $1, $2, $3, now, now from (select holdfast.now_ms() as now) as clock
    on conflict (thread_id) do nothing
    returning ${COLUMNS}
  )
  select ${COLUMNS} from created union all select ${COLUMNS} from holdfast.threads where thread_id = $1 limit 1
`)

export const findThread = repeatable(`select ${COLUMNS} from holdfast.threads where thread_id = $1`)

export const listThreads = repeatable(`
  select ${COLUMNS} from holdfast.threads
  where owner_id = $1 and updated_at <= $2::double precision and (updated_at < $2::double precision or thread_id > $3::text)
  order by updated_at desc, thread_id
  limit $4::integer
`)

/** Time never goes back, so that a list does not reorder when the database's clock is set. */
export const renameThread = repeatable(`
  update holdfast.threads set title = $2, updated_at = greatest(updated_at, holdfast.now_ms()) where thread_id = $1
`)

export const touchThread = repeatable(`
  update holdfast.threads set updated_at = greatest(updated_at, holdfast.now_ms()) where thread_id = $1
`)
