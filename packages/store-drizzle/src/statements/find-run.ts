import { repeatable } from '../database/statement.ts'
import { RUN_COLUMNS } from './run-columns.ts'

export const findRun = repeatable(`select ${RUN_COLUMNS} from holdfast.runs where run_id = $1`)

/** Served by the partial index on running runs, so that a long history costs nothing. */
export const findActiveRun = repeatable(`
  select ${RUN_COLUMNS} from holdfast.runs
  where thread_id = $1 and status = 'running'
  order by started_at desc, run_id desc
  limit 1
`)

export const listThreadRuns = repeatable(`
  select ${RUN_COLUMNS} from holdfast.runs where thread_id = $1 order by started_at, run_id
`)

/** Served by the partial index on detached runs: a reaper must not read finished ones. */
export const listReclaimableRuns = repeatable(`
  select ${RUN_COLUMNS} from holdfast.runs
  where status = 'running' and detached_since is not null and detached_since <= $1::double precision
  order by detached_since, run_id
`)
