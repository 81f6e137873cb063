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
 * A save touches the blobs it names. One that does so while this waits for the blob's row changes its time, which is
 * looked at again before the row goes.
 */
export const collectBlobs = repeatable(`
  with cutoff as (
    select holdfast.now_ms() - $1::double precision as at
  ), old as (
    select key from holdfast.blobs blob
    where touched_at < (select at from cutoff) and ${IS_COLLECTABLE}
      and not exists (select from holdfast.blob_references reference where reference.blob_key = blob.key)
      and not exists (select from holdfast.artifacts artifact where artifact.blob_key = blob.key)
    order by touched_at
    limit $2::integer
  ), gone as (
    delete from holdfast.blobs blob
    where key in (select key from old) and touched_at < (select at from cutoff)
      and not exists (select from holdfast.blob_references reference where reference.blob_key = blob.key)
      and not exists (select from holdfast.artifacts artifact where artifact.blob_key = blob.key)
    returning upload_id, size
  ), dropped as (
    delete from holdfast.blob_chunks where upload_id in (select upload_id from gone)
  )
  select count(*) as blobs, coalesce(sum(size), 0) as bytes from gone
`)

/** Which of the keys nothing names any more, for bytes that are kept outside the database. */
export const listUnreferenced = repeatable(`
  select key from json_array_elements_text($1::text::json) as given(key)
  where not exists (select from holdfast.blob_references where blob_key = given.key)
    and not exists (select from holdfast.artifacts where blob_key = given.key)
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
