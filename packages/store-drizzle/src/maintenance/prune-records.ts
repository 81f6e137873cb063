import { assertMs, InvalidInputError } from '@holdfast/core'
import { dropNodes } from '../content/checkpoint-nodes.ts'
import { checkpointNodeIds } from '../content/checkpoint-rows.ts'
import type { Database, StatementRunner } from '../database/database.ts'
import { maybeText, number, text } from '../database/row.ts'
import {
  collectBlobs,
  databaseTime,
  dropAbandonedUploads,
  dropCheckpoints,
  dropDeadWaiters,
  listCheckpointThreads,
  lockThreadHead,
} from '../statements/prune.ts'
import { removeLogsBefore } from '../statements/remove-logs.ts'

/** What may go. */
export interface PruneInput {
  /** Logs that were closed longer ago than this. Open ones stay. */
  eventLogs?: { closedForMs: number }
  /** A checkpoint stays when it is the head or when one of the given rules keeps it. */
  checkpoints?: {
    /** How many of the newest of each thread stay. */
    keepLast?: number
    /** Whether those that a person named stay. Default true. */
    keepNamed?: boolean
    /** Younger ones stay. */
    maxAgeMs?: number
  }
  /** Bytes of checkpoints and artifacts that nothing names, and that nobody touched for this long. */
  blobs?: { graceMs: number }
  dryRun?: boolean
}

/** What went, or with `dryRun` would have gone. */
export interface PruneResult {
  eventLogs: number
  checkpoints: number
  blobs: number
  blobBytes: number
  /** Uploads that never became a blob. */
  uploads: number
}

/** A save may take this long from storing its bytes to naming them. */
export const MIN_BLOB_GRACE_MS = 600_000
const AT_ONCE = 200

/** A step runs in a transaction of its own, so that locks are short; a dry run is one that is rolled back. */
export async function pruneRecords(db: Database, input: PruneInput): Promise<PruneResult> {
  assertPruneInput(input)
  const result: PruneResult = { eventLogs: 0, checkpoints: 0, blobs: 0, blobBytes: 0, uploads: 0 }
  if (input.dryRun === true) {
    await rolledBack(db, (tx) => pruneAll((work) => work(tx), input, result))
    return result
  }
  await pruneAll((work) => db.transaction(work, { repeatable: true }), input, result)
  return result
}

type RunStep = <T>(work: (tx: StatementRunner) => Promise<T>) => Promise<T>

async function pruneAll(step: RunStep, input: PruneInput, result: PruneResult): Promise<void> {
  if (input.eventLogs !== undefined) await pruneLogs(step, input.eventLogs, result)
  if (input.checkpoints !== undefined) await pruneCheckpoints(step, input.checkpoints, result)
  if (input.blobs !== undefined) await pruneBlobs(step, input.blobs, result)
  await step((tx) => tx.rows(dropDeadWaiters))
}

async function pruneLogs(step: RunStep, { closedForMs }: { closedForMs: number }, result: PruneResult): Promise<void> {
  const now = await step(async (tx) => number((await tx.row(databaseTime)) ?? {}, 'now'))
  for (;;) {
    const row = await step((tx) => tx.row(removeLogsBefore, [now - closedForMs, AT_ONCE]))
    const removed = number(row ?? {}, 'removed')
    result.eventLogs += removed
    if (removed < AT_ONCE) return
  }
}

async function pruneCheckpoints(
  step: RunStep,
  { keepLast, keepNamed = true, maxAgeMs }: NonNullable<PruneInput['checkpoints']>,
  result: PruneResult,
): Promise<void> {
  let after = ''
  for (;;) {
    const threads = await step((tx) => tx.rows(listCheckpointThreads, [after, AT_ONCE]))
    for (const row of threads) {
      const threadId = text(row, 'thread_id')
      result.checkpoints += await step(async (tx) => {
        const head = await tx.row(lockThreadHead, [threadId])
        const headId = head === undefined ? null : (maybeText(head, 'head_id') ?? null)
        const gone = await tx.rows(dropCheckpoints, [threadId, headId, keepLast ?? null, maxAgeMs ?? null, keepNamed])
        await dropNodes(
          tx,
          gone.flatMap((each) => Object.values(checkpointNodeIds(each))),
        )
        return gone.length
      })
      after = threadId
    }
    if (threads.length < AT_ONCE) return
  }
}

async function pruneBlobs(step: RunStep, { graceMs }: { graceMs: number }, result: PruneResult): Promise<void> {
  const collected = (await step((tx) => tx.row(collectBlobs, [graceMs]))) ?? {}
  result.blobs += number(collected, 'blobs')
  result.blobBytes += number(collected, 'bytes')
  const uploads = await step((tx) => tx.row(dropAbandonedUploads, [graceMs]))
  result.uploads += number(uploads ?? {}, 'uploads')
}

class RolledBack extends Error {}

async function rolledBack(db: Database, work: (tx: StatementRunner) => Promise<void>): Promise<void> {
  const rollBack = new RolledBack('A dry run changes nothing.')
  try {
    await db.transaction(
      async (tx) => {
        await work(tx)
        throw rollBack
      },
      { repeatable: false },
    )
  } catch (error) {
    if (error !== rollBack && (error as { cause?: unknown }).cause !== rollBack) throw error
  }
}

function assertPruneInput({ eventLogs, checkpoints, blobs }: PruneInput): void {
  if (eventLogs !== undefined) assertMs('eventLogs.closedForMs', eventLogs.closedForMs)
  if (checkpoints?.maxAgeMs !== undefined) assertMs('checkpoints.maxAgeMs', checkpoints.maxAgeMs)
  const { keepLast } = checkpoints ?? {}
  if (keepLast !== undefined && !(Number.isSafeInteger(keepLast) && keepLast >= 1)) {
    throw new InvalidInputError('INVALID_ARGUMENT', 'checkpoints.keepLast must be a whole number, 1 or more.')
  }
  if (checkpoints !== undefined && keepLast === undefined && checkpoints.maxAgeMs === undefined) {
    throw new InvalidInputError('INVALID_ARGUMENT', 'checkpoints needs keepLast or maxAgeMs.')
  }
  if (blobs !== undefined && !(blobs.graceMs >= MIN_BLOB_GRACE_MS)) {
    const message = `blobs.graceMs must be ${MIN_BLOB_GRACE_MS} or more: a save in progress needs that long.`
    throw new InvalidInputError('INVALID_ARGUMENT', message)
  }
}
