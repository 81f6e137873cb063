import type { RunListInput } from '@holdfast/core'
import { repeatable } from '../database/statement.ts'
import type { SqlValue, Statement } from '../database/statement.ts'
import { RUN_COLUMNS } from './run-columns.ts'

/** The partial index holds driven runs alone, so that a sweep over finished ones reads none of them. */
export const listOrphanedRuns = repeatable(`
  select ${RUN_COLUMNS} from holdfast.runs
  where holds_thread and detached_since is null
    and lease_expires_at < coalesce($1::double precision, (select holdfast.now_ms())) - $2::double precision
  order by lease_expires_at, run_id
  limit $3::integer
`)

/** What each filter asks of a run; `$` stands for its value. */
const CONDITIONS = {
  threadId: 'thread_id = $',
  ownerId: 'exists (select from holdfast.threads where threads.thread_id = runs.thread_id and owner_id = $)',
  status: 'status = $',
} as const

type RunFilter = keyof typeof CONDITIONS
const FILTERS = Object.keys(CONDITIONS) as RunFilter[]

/** One text per set of filters, because a filter that may be absent would cost the index. */
const STATEMENTS = new Map<string, Statement>()

/** The statement for these filters, and what to bind. */
export function listRuns(input: RunListInput): [Statement, SqlValue[]] {
  const used = FILTERS.filter((filter) => input[filter] !== undefined)
  const key = used.join()
  const statement = STATEMENTS.get(key) ?? listOf(used)
  STATEMENTS.set(key, statement)
  return [statement, [...used.map((filter) => input[filter] ?? null), input.limit]]
}

function listOf(filters: readonly RunFilter[]): Statement {
  const conditions = filters.map((filter, index) => CONDITIONS[filter].replace('$', () => `$${index + 1}`))
  const statement = repeatable(`
    select ${RUN_COLUMNS} from holdfast.runs where ${['true', ...conditions].join(' and ')}
    order by started_at desc, run_id desc
    limit $${filters.length + 1}::integer
  `)
  // An owner of most runs is found among the newest runs, one of few by its threads.
  return filters.includes('ownerId') ? { ...statement, planned: 'per-call' } : statement
}
