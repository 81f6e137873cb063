import { repeatable } from '../database/statement.ts'

/** Ids arrive as one JSON list, because an array parameter differs between the two clients. */
export const findDrivers = repeatable(`
  select run_id, driver_epoch, driver_owner, lease_expires_at,
    status = 'running' and lease_expires_at > (select holdfast.now_ms()) as is_live
  from holdfast.runs
  where run_id in (select jsonb_array_elements_text($1::text::jsonb)) and driver_owner is not null
`)
