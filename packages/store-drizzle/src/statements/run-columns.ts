/** What a run record is read from. */
export const RUN_COLUMNS = `run_id, thread_id, status, started_at, finished_at, error, usage, sandbox_key,
  detached_since, cancel_requested, driver_epoch`
