/** Begins the run ids under which threads are held for work that is no chat. */
export const HOLD_PREFIX = 'checkpoint:'

/** Whether a run only holds its thread: there is no model loop to continue. */
export function isThreadHold(runId: string): boolean {
  return runId.startsWith(HOLD_PREFIX)
}
