import { repeatable } from '../database/statement.ts'

const COLUMNS = 'key, size, etag, attributes, created_at'
/** A touch within this time is as good as a new one, so that looking does not write each time. */
const TOUCH_AGAIN_MS = 60_000

export const storeChunk = repeatable(`
  insert into holdfast.blob_chunks (upload_id, position, bytes, stored_at)
  values ($1::uuid, $2::integer, $3::bytea, holdfast.now_ms())
  on conflict (upload_id, position) do nothing
`)

export const dropUpload = repeatable(`delete from holdfast.blob_chunks where upload_id = $1::uuid`)

/** The blob appears, or changes, in this one statement; the bytes it had before go with it. */
export const publishBlob = repeatable(`
  with before as (
    select upload_id from holdfast.blobs where key = $1 and upload_id <> $2::uuid for update
  ), dropped as (
    delete from holdfast.blob_chunks where upload_id in (select upload_id from before)
  )
  insert into holdfast.blobs as blob (key, upload_id, size, chunk_bytes, etag, attributes, created_at, touched_at)
  select $1, $2::uuid, $3::bigint, $4::integer, $5, $6, now, now from (select holdfast.now_ms() as now) as clock
  on conflict (key) do update set
    upload_id = excluded.upload_id, size = excluded.size, chunk_bytes = excluded.chunk_bytes, etag = excluded.etag,
    attributes = excluded.attributes, created_at = excluded.created_at, touched_at = excluded.touched_at
  returning ${COLUMNS}
`)

/** Comes with the first chunk that is needed, because most blobs have one. */
export const openBlob = repeatable(`
  select blob.key, blob.size, blob.etag, blob.attributes, blob.created_at, blob.upload_id, blob.chunk_bytes, chunk.bytes
  from holdfast.blobs blob
  left join holdfast.blob_chunks chunk
    on chunk.upload_id = blob.upload_id and chunk.position = floor(least($2::double precision, blob.size) / blob.chunk_bytes)::integer
  where blob.key = $1
`)

export const readChunk = repeatable(`
  select bytes from holdfast.blob_chunks where upload_id = $1::uuid and position = $2::integer
`)

/**
 * Whoever asks whether bytes are there is about to rely on them, so asking keeps them from being collected. What was
 * untouched counts as there only once it has been touched: a collection may be taking it at this moment.
 */
export const headBlobs = repeatable(`
  with wanted as (
    select json_array_elements_text($1::text::json) collate "C" as key
  ), cutoff as (
    select holdfast.now_ms() - ${TOUCH_AGAIN_MS} as at
  ), untouched as (
    select key from holdfast.blobs where key in (select key from wanted) and touched_at < (select at from cutoff)
  ), touched as (
    update holdfast.blobs set touched_at = holdfast.now_ms() where key in (select key from untouched)
    returning ${COLUMNS}
  )
  select ${COLUMNS} from touched
  union all
  select ${COLUMNS} from holdfast.blobs
  where key in (select key from wanted) and touched_at >= (select at from cutoff)
`)

export const deleteBlob = repeatable(`
  with gone as (
    delete from holdfast.blobs where key = $1 returning upload_id
  )
  delete from holdfast.blob_chunks where upload_id in (select upload_id from gone)
`)

export const listBlobs = repeatable(`
  select ${COLUMNS} from holdfast.blobs
  where key >= $1::text and starts_with(key, $1::text) and key > $2::text
  order by key
  limit $3::integer
`)
