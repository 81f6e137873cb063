import { repeatable } from '../database/statement.ts'

/**
 * Alone in its transaction, because commits that notify wait for each other. Such a commit is written to the server's
 * log although it changes nothing, and nobody needs it after a crash: it does not wait for the disk.
 */
export const notifyWakes = repeatable(`
  select set_config('synchronous_commit', 'off', true), pg_notify($1::text, $2::text)
`)
