import { repeatable } from '../database/statement.ts'

export const countNodeUses = repeatable(`
  select files_node, artifacts_node, count(*) as uses
  from holdfast.checkpoints
  group by files_node, artifacts_node
  order by files_node
`)
