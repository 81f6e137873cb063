import { repeatable } from '../database/statement.ts'

/** A node and all it builds upon, base first; the chain's length is bounded by what an append writes. */
export const loadNodes = repeatable(`
  with recursive chain as (
    select node_id, base_id, depth, chain_bytes, body from holdfast.checkpoint_nodes where node_id = $1::bigint
    union all
    select base.node_id, base.base_id, base.depth, base.chain_bytes, base.body
    from holdfast.checkpoint_nodes base join chain on base.node_id = chain.base_id
  )
  select node_id, depth, chain_bytes, body from chain order by depth
`)

/** Removes nodes that no checkpoint and no other node needs, and answers what they built upon. */
export const dropUnusedNodes = repeatable(`
  with unused as (
    delete from holdfast.checkpoint_nodes node
    where node.node_id in (select json_array_elements_text($1::text::json)::bigint)
      and not exists (select from holdfast.checkpoint_nodes child where child.base_id = node.node_id)
      and not exists (select from holdfast.checkpoints where files_node = node.node_id)
      and not exists (select from holdfast.checkpoints where conversation_node = node.node_id)
      and not exists (select from holdfast.checkpoints where artifacts_node = node.node_id)
    returning node.node_id, node.base_id
  )
  select distinct base_id from unused where base_id is not null
`)
