import { repeatable } from '../database/statement.ts'
import { RUN_COLUMNS } from './run-columns.ts'

/** Creates or finds in one statement, so that two senders of one run id agree on the record. */
export const createRun = repeatable(`
  with created as (
    insert into holdfast.runs (run_id, thread_id, status, started_at) values ($1, $2, $3, $4)
    on conflict (run_id) do nothing
    returning ${RUN_COLUMNS}
  )
  select ${RUN_COLUMNS} from created
  union all
  select ${RUN_COLUMNS} from holdfast.runs where run_id = $1
  limit 1
`)
