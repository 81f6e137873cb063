import { repeatable } from '../database/statement.ts'

/**
 * Runs under the lock on the head. Nodes, checkpoint and head go in together. What is newly named is touched, so
 * that a collection that is about to delete it looks again and spares it.
 */
export const advanceHead = repeatable(`
  with input as (
    select * from json_to_record($1::text::json) as input(
      id text, thread_id text, parent_id text, created_at double precision, reason text, attributes text, append_id uuid,
      file_count integer, message_count integer, artifact_count integer,
      files json, conversation json, artifacts json, new_keys json)
  ), plans as (
    select 'files' as kind, files as plan from input
    union all select 'conversation', conversation from input
    union all select 'artifacts', artifacts from input
  ), planned as (
    select kind, coalesce((plan ->> 'nodeId')::bigint, nextval(pg_get_serial_sequence('holdfast.checkpoint_nodes', 'node_id'))) as node_id,
      plan ->> 'nodeId' is null as is_new, (plan ->> 'baseId')::bigint as base_id,
      (plan ->> 'depth')::integer as depth, (plan ->> 'chainBytes')::bigint as chain_bytes, plan ->> 'body' as body
    from plans
  ), nodes as (
    insert into holdfast.checkpoint_nodes (node_id, thread_id, kind, base_id, depth, chain_bytes, body) overriding system value
    select node_id, (select thread_id from input), kind, base_id, depth, chain_bytes, body from planned where is_new
  ), touched as (
    update holdfast.blobs set touched_at = holdfast.now_ms()
    where key in (select json_array_elements_text(new_keys) collate "C" from input)
  ), stored as (
    insert into holdfast.checkpoints (checkpoint_id, thread_id, parent_id, created_at, reason, attributes, append_id,
      file_count, message_count, artifact_count, files_node, conversation_node, artifacts_node)
    select id, thread_id, parent_id, created_at, reason, attributes, append_id, file_count, message_count, artifact_count,
      (select node_id from planned where kind = 'files'),
      (select node_id from planned where kind = 'conversation'),
      (select node_id from planned where kind = 'artifacts')
    from input
    returning checkpoint_id, thread_id, files_node, conversation_node, artifacts_node
  ), advanced as (
    update holdfast.checkpoint_heads head set head_id = stored.checkpoint_id
    from stored where head.thread_id = stored.thread_id
  )
  select files_node, conversation_node, artifacts_node from stored
`)
