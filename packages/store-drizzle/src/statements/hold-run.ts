import { repeatable } from '../database/statement.ts'

/** The epoch stands in every condition: a superseded driver changes nothing. */
const WHILE_DRIVEN = `where run_id = $1 and driver_epoch = $2::bigint and status = 'running' and holds_thread`

export const renewRun = repeatable(`
  update holdfast.runs set lease_expires_at = holdfast.now_ms() + $3::double precision
  ${WHILE_DRIVEN}
  returning lease_expires_at
`)

/** The earlier end stands, so that repeating a release does not make the run look younger. */
export const releaseRun = repeatable(`
  update holdfast.runs set lease_expires_at = least(lease_expires_at, holdfast.now_ms())
  ${WHILE_DRIVEN}
`)

export const detachRun = repeatable(`
  update holdfast.runs set
    detached_since = coalesce(detached_since, holdfast.now_ms()),
    sandbox_key = coalesce($3::text, sandbox_key)
  ${WHILE_DRIVEN}
  returning run_id
`)

export const finishRun = repeatable(`
  update holdfast.runs set
    status = $3::text,
    error = coalesce($4::text, error),
    usage = coalesce($5::text, usage),
    finished_at = case when $3::text <> 'interrupted' then holdfast.now_ms() end,
    lease_expires_at = least(lease_expires_at, holdfast.now_ms()),
    holds_thread = false
  ${WHILE_DRIVEN}
  returning run_id
`)
