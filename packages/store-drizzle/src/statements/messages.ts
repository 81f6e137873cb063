import { repeatable } from '../database/statement.ts'

export const loadMessages = repeatable(`
  select body from holdfast.messages where thread_id = $1 order by position
`)

/** A function, because each of its steps must see what the row lock before it waited for. */
export const saveMessages = repeatable(`select holdfast.save_transcript($1, $2, $3, $4::bigint) as is_saved`)
