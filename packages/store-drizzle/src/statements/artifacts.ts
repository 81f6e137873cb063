import { repeatable } from '../database/statement.ts'

const COLUMNS = 'artifact_id, run_id, thread_id, blob_key, created_at, attributes'

/** Touches the blob it names, so that a collection that runs meanwhile spares it. */
export const saveArtifact = repeatable(`
  with touched as (
    update holdfast.blobs set touched_at = holdfast.now_ms() where key = $4
  )
  insert into holdfast.artifacts (${COLUMNS}) values ($1, $2, $3, $4, $5, $6)
  on conflict (artifact_id) do update set
    run_id = excluded.run_id, thread_id = excluded.thread_id, blob_key = excluded.blob_key,
    created_at = excluded.created_at, attributes = excluded.attributes
`)

export const findArtifact = repeatable(`select ${COLUMNS} from holdfast.artifacts where artifact_id = $1`)

export const listRunArtifacts = list('run_id')
export const listThreadArtifacts = list('thread_id')

export const deleteArtifact = repeatable(`delete from holdfast.artifacts where artifact_id = $1`)

export const deleteRunArtifacts = repeatable(`delete from holdfast.artifacts where run_id = $1`)

function list(column: string) {
  return repeatable(`
    select ${COLUMNS} from holdfast.artifacts where ${column} = $1 order by created_at, artifact_id
  `)
}
