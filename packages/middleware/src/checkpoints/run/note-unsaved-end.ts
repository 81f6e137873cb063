import type { CheckpointStores } from '../checkpoint-stores.ts'
import { findWriterNote } from '../checkpoint-writer.ts'
import { HOST_LOST_CODE } from '../../runs/terminal-chunk.ts'
import { saveCheckpointFailure } from './checkpoint-failures.ts'
import { endCheckpointId } from './checkpoint-id.ts'

/**
 * Notes on a run whose host died that its end is not saved, where it was to be: a run is not called ended before its
 * checkpoint is stored or this is said. Its files are still in the sandbox; the next save has them. Repeatable.
 */
export async function noteUnsavedEnd(
  { checkpoints, metadata }: Pick<CheckpointStores, 'checkpoints' | 'metadata'>,
  run: { threadId: string; runId: string; status: 'completed' | 'failed'; now: number },
): Promise<void> {
  const { threadId, runId, status, now } = run
  const note = await findWriterNote(metadata, threadId)
  if (note?.runId !== runId || !note.saves.includes(status)) return
  if ((await checkpoints.get(endCheckpointId(threadId, runId, status))) !== null) return
  const message = 'The host of this run died before its end was saved. The sandbox has the files; save them, or go on.'
  await saveCheckpointFailure(metadata, runId, { code: HOST_LOST_CODE, message, at: now })
}
