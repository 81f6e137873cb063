import { repeatable } from '../database/statement.ts'

/** Alone in its transaction, because commits that notify wait for each other. */
export const notifyWakes = repeatable(`select pg_notify($1::text, $2::text)`)
