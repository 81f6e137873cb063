import { repeatable } from '../database/statement.ts'

const COLUMNS = `key, provider, provider_sandbox_id, latest_snapshot_id, thread_id, latest_run_id, updated_at, state, labels`

export const findInstance = repeatable(`select ${COLUMNS} from holdfast.sandbox_instances where key = $1`)

/** Every column is written, because a field that is left out is cleared. */
export const upsertInstance = repeatable(`
  insert into holdfast.sandbox_instances (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  on conflict (key) do update set
    provider = excluded.provider, provider_sandbox_id = excluded.provider_sandbox_id,
    latest_snapshot_id = excluded.latest_snapshot_id, thread_id = excluded.thread_id,
    latest_run_id = excluded.latest_run_id, updated_at = excluded.updated_at,
    state = excluded.state, labels = excluded.labels
`)

export const deleteInstance = repeatable(`delete from holdfast.sandbox_instances where key = $1`)

/** A text for each index. */
export const listInstances = list('')
export const listThreadInstances = list('thread_id = $7::text and')
/** For a state other than ready. Few rows have one, and a reaper asks for them again and again. */
export const listUnsettledInstances = list(`state = $6::text and state <> 'ready' and`)

function list(condition: string) {
  return repeatable(`
    select ${COLUMNS} from holdfast.sandbox_instances
    where ${condition} ($1::text is null or provider = $1)
      and ($2::double precision is null or updated_at < $2)
      and ($6::text is null or coalesce(state, 'ready') = $6)
      and (updated_at, key) > ($3::double precision, $4::text collate "C")
    order by updated_at, key
    limit $5::integer
  `)
}
