import { repeatable } from '../database/statement.ts'

/** Locks the thread's runs, so that none of them is claimed while its rows go. */
export const lockThreadRuns = repeatable(`
  select run_id, holds_thread, lease_expires_at <= holdfast.now_ms() as is_orphaned
  from holdfast.runs where thread_id = $1
  order by run_id
  for update
`)

/** Waits for a save of the transcript and for a checkpoint that are under way, so that their rows are seen. */
export const lockThreadContent = repeatable(`
  with transcript as (select from holdfast.transcripts where thread_id = $1 for update),
    logs as (
      select from holdfast.run_logs where run_id in (select run_id from holdfast.runs where thread_id = $1) for update
    ),
    head as (select from holdfast.checkpoint_heads where thread_id = $1 for update)
  select (select count(*) from transcript) + (select count(*) from logs) + (select count(*) from head) as locked
`)

/** One statement for all tables: a thread is erased whole or not at all. Instance rows stay for the sweep. */
export const deleteThreadRows = repeatable(`
  with gone_runs as (
    delete from holdfast.runs where thread_id = $1 and not holds_thread returning run_id
  ), gone_logs as (
    delete from holdfast.run_logs where run_id in (select run_id from gone_runs) returning log_id
  ), gone_events as (
    delete from holdfast.run_events where log_id in (select log_id from gone_logs)
  ), gone_nodes as (
    delete from holdfast.checkpoint_nodes where thread_id = $1
  ), gone_checkpoints as (
    delete from holdfast.checkpoints where thread_id = $1
  ), gone_heads as (
    delete from holdfast.checkpoint_heads where thread_id = $1
  ), gone_artifacts as (
    delete from holdfast.artifacts where thread_id = $1
  ), gone_interrupts as (
    delete from holdfast.interrupts where thread_id = $1
  ), gone_messages as (
    delete from holdfast.messages where thread_id = $1
  ), gone_transcripts as (
    delete from holdfast.transcripts where thread_id = $1
  ), gone_threads as (
    delete from holdfast.threads where thread_id = $1
  )
  select run_id from gone_runs
`)
