import { repeatable } from '../database/statement.ts'

/** Why a claim was refused. Only a refused claim pays for it. */
export const inspectClaim = repeatable(`
  select thread_id, status, cancel_requested, driver_owner, lease_expires_at > holdfast.now_ms() as is_live
  from holdfast.runs where run_id = $1
`)

export const findThreadHolder = repeatable(`
  select run_id, lease_expires_at <= holdfast.now_ms() as is_orphaned
  from holdfast.runs where thread_id = $1 and holds_thread
`)
