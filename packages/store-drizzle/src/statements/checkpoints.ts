import { repeatable } from '../database/statement.ts'

const COLUMNS = `checkpoint_id, thread_id, parent_id, created_at, reason, attributes, append_id,
  file_count, message_count, artifact_count, files_node, conversation_node, artifacts_node`

export const findCheckpoint = repeatable(`select ${COLUMNS} from holdfast.checkpoints where checkpoint_id = $1`)

export const listCheckpoints = repeatable(`
  select ${COLUMNS} from holdfast.checkpoints where thread_id = $1 order by created_at, checkpoint_id
`)

export const listSummaries = repeatable(`
  select ${COLUMNS} from holdfast.checkpoints
  where thread_id = $1 and (created_at, checkpoint_id) < ($2::double precision, $3::text collate "C")
  order by created_at desc, checkpoint_id desc
  limit $4::integer
`)

export const firstSummaries = repeatable(`
  select ${COLUMNS} from holdfast.checkpoints
  where thread_id = $1
  order by created_at desc, checkpoint_id desc
  limit $2::integer
`)

export const listAllCheckpoints = repeatable(`
  select ${COLUMNS} from holdfast.checkpoints where checkpoint_id > $1 order by checkpoint_id limit $2::integer
`)

export const findHead = repeatable(`select head_id from holdfast.checkpoint_heads where thread_id = $1`)

/** Runs under the lock on the head. Where retention took the parent, the newest that is left becomes the head. */
export const dropHead = repeatable(`
  with gone as (
    delete from holdfast.checkpoints where checkpoint_id = $2 and thread_id = $1
    returning parent_id, files_node, conversation_node, artifacts_node
  ), moved as (
    update holdfast.checkpoint_heads set head_id = coalesce(
      (select checkpoint_id from holdfast.checkpoints where checkpoint_id = (select parent_id from gone)),
      (select checkpoint_id from holdfast.checkpoints where thread_id = $1 and checkpoint_id <> $2
        order by created_at desc, checkpoint_id desc limit 1))
    where thread_id = $1 and exists (select from gone)
    returning head_id
  )
  select moved.head_id, files_node, conversation_node, artifacts_node from gone, moved
`)

export const isThreadInUse = repeatable(`
  select exists (select from holdfast.checkpoints where thread_id = $1)
    or exists (select from holdfast.messages where thread_id = $1) as is_in_use
`)

export const deleteThreadCheckpoints = repeatable(`
  with gone_nodes as (
    delete from holdfast.checkpoint_nodes where thread_id = $1
  ), gone_heads as (
    delete from holdfast.checkpoint_heads where thread_id = $1
  )
  delete from holdfast.checkpoints where thread_id = $1
`)
