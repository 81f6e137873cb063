import { repeatable } from '../database/statement.ts'

const COLUMNS = 'interrupt_id, run_id, thread_id, status, requested_at, resolved_at, payload, response'

export const createInterrupt = repeatable(`
  insert into holdfast.interrupts (interrupt_id, run_id, thread_id, status, requested_at, payload)
  values ($1, $2, $3, 'pending', $4, $5)
  on conflict (interrupt_id) do nothing
`)

/** Only a pending interrupt is answered, so that the first answer stands. */
export const answerInterrupt = repeatable(`
  update holdfast.interrupts set status = $2, response = $3, resolved_at = holdfast.now_ms()
  where interrupt_id = $1 and status = 'pending'
`)

/** Locks in one order, so that two batches never wait for each other. */
export const lockPendingInterrupts = repeatable(`
  select interrupt_id from holdfast.interrupts
  where interrupt_id in (select json_array_elements_text($1::text::json)) and status = 'pending'
  order by interrupt_id
  for update
`)

export const answerInterrupts = repeatable(`
  update holdfast.interrupts set status = answer.status, response = answer.response, resolved_at = holdfast.now_ms()
  from json_to_recordset($1::text::json) as answer(id text, status text, response text)
  where interrupt_id = answer.id
`)

export const findInterrupt = repeatable(`select ${COLUMNS} from holdfast.interrupts where interrupt_id = $1`)

export const listInterrupts = {
  ofThread: list('thread_id = $1'),
  pendingOfThread: list(`thread_id = $1 and status = 'pending'`),
  ofRun: list('run_id = $1'),
  pendingOfRun: list(`run_id = $1 and status = 'pending'`),
}

function list(condition: string) {
  return repeatable(`select ${COLUMNS} from holdfast.interrupts where ${condition} order by requested_at, interrupt_id`)
}
