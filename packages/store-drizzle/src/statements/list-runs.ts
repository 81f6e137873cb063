import { repeatable } from '../database/statement.ts'
import { RUN_COLUMNS } from './run-columns.ts'

/** The partial index holds driven runs alone, so that a sweep over finished ones reads none of them. */
export const listOrphanedRuns = repeatable(`
  select ${RUN_COLUMNS} from holdfast.runs
  where holds_thread and detached_since is null
    and lease_expires_at < coalesce($1::double precision, (select holdfast.now_ms())) - $2::double precision
  order by lease_expires_at, run_id
  limit $3::integer
`)

/** One text per filter, because a filter that may be absent would cost the index. */
export const listRuns = {
  all: list('true', 1),
  ofThread: list('thread_id = $1', 2),
  withStatus: list('status = $1', 2),
  ofThreadWithStatus: list('thread_id = $1 and status = $2', 3),
}

function list(condition: string, limitAt: number) {
  return repeatable(`
    select ${RUN_COLUMNS} from holdfast.runs where ${condition}
    order by started_at desc, run_id desc
    limit $${limitAt}::integer
  `)
}
