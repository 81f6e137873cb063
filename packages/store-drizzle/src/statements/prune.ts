import { repeatable } from '../database/statement.ts'

export const databaseTime = repeatable(`select holdfast.now_ms() as now`)

export const listCheckpointThreads = repeatable(`
  select distinct thread_id from holdfast.checkpoints where thread_id > $1::text order by thread_id limit $2::integer
`)

export const lockThreadHead = repeatable(`
  select head_id from holdfast.checkpoint_heads where thread_id = $1 for update
`)

/** Runs under the lock on the head. A checkpoint goes when no rule keeps it; the head always stays. */
export const dropCheckpoints = repeatable(`
  with ranked as (
    select checkpoint_id, created_at, reason,
      row_number() over (order by created_at desc, checkpoint_id desc) as newest
    from holdfast.checkpoints where thread_id = $1
  )
  delete from holdfast.checkpoints checkpoint using ranked
  where checkpoint.checkpoint_id = ranked.checkpoint_id
    and ranked.checkpoint_id is distinct from $2::text
    and ($3::integer is null or ranked.newest > $3::integer)
    and ($4::double precision is null or ranked.created_at < (select holdfast.now_ms()) - $4::double precision)
    and not ($5::boolean and ranked.reason = 'named')
  returning files_node, conversation_node, artifacts_node
`)

/** Keys that an app made up are its own business: only what checkpoints and artifacts name is collected. */
const IS_COLLECTABLE = `(blob.key like 'sandbox-files/sha256/%' or blob.key like 'sandbox-artifacts/sha256/%')`

/**
 * Every key that the lists of checkpoints and the artifacts name, as of one snapshot. It is read out of the lists when it
 * is needed, because a row per file of each list would weigh more than the lists.
 */
const NAMED = `
  select 'sandbox-files/sha256/' || (item ->> 2) as key
  from holdfast.checkpoint_nodes node, json_array_elements(node.body::json) as item
  where node.kind = 'files' and item ->> 0 = 'file'
  union
  select item ->> 2
  from holdfast.checkpoint_nodes node, json_array_elements(node.body::json) as item
  where node.kind = 'artifacts' and item ->> 0 = 'artifact'
  union
  select blob_key from holdfast.artifacts where blob_key is not null
`

/**
 * A checkpoint that is saved after the snapshot takes its keys from its parent, which is in the snapshot or came later
 * itself, or touches them. A touch that comes while this waits for a blob's row is seen when the row is looked at again.
 */
export const collectBlobs = repeatable(`
  with cutoff as (
    select holdfast.now_ms() - $1::double precision as at
  ), named as materialized (${NAMED}), gone as (
    delete from holdfast.blobs blob
    where touched_at < (select at from cutoff) and ${IS_COLLECTABLE}
      and not exists (select from named where named.key = blob.key)
    returning upload_id, size
  ), dropped as (
    delete from holdfast.blob_chunks where upload_id in (select upload_id from gone)
  )
  select count(*) as blobs, coalesce(sum(size), 0) as bytes from gone
`)

/** Which of the keys nothing names any more, for bytes that are kept outside the database. */
export const listUnreferenced = repeatable(`
  select given.key from json_array_elements_text($1::text::json) as given(key)
  where not exists (select from (${NAMED}) as named where named.key = given.key)
`)

/** Bytes of uploads that never became a blob, and of blobs that were replaced. */
export const dropAbandonedUploads = repeatable(`
  with abandoned as (
    select distinct upload_id from holdfast.blob_chunks chunk
    where stored_at < holdfast.now_ms() - $1::double precision
      and not exists (select from holdfast.blobs blob where blob.upload_id = chunk.upload_id)
  ), dropped as (
    delete from holdfast.blob_chunks where upload_id in (select upload_id from abandoned)
  )
  select count(*) as uploads from abandoned
`)

export const dropDeadWaiters = repeatable(`
  with dead as (
    delete from holdfast.lock_waiters where expires_at < holdfast.now_ms() - 60000 returning waiter
  )
  select count(*) as waiters from dead
`)
