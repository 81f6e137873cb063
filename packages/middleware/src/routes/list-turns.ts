import { MAX_PAGE_SIZE } from '@holdfast/core'
import type { DriverStore, RunRecord } from '@holdfast/core'
import { isThreadHold } from '../checkpoints/thread/thread-hold-id.ts'

/** Holds that a page usually has room for, so that one query is enough. */
const SPARE = 20

/**
 * The runs that fit, newest first, without the holds that saving and rewinding put on a thread as if they were runs.
 * Behind 1,000 records of a thread nothing is looked for.
 */
export async function listTurns(
  drivers: DriverStore,
  filter: Parameters<DriverStore['list']>[0],
): Promise<RunRecord[]> {
  const { limit } = filter
  for (let size = Math.min(MAX_PAGE_SIZE, limit + SPARE); ; size = Math.min(MAX_PAGE_SIZE, size * 4)) {
    const page = await drivers.list({ ...filter, limit: size })
    const turns = page.filter(({ runId }) => !isThreadHold(runId))
    if (turns.length >= limit || page.length < size || size === MAX_PAGE_SIZE) return turns.slice(0, limit)
  }
}
