/** Run records are TanStack's; they are re-exported so that one package gives every contract. */
export { isRunStatus, isTerminalRunStatus } from '@tanstack/ai'
export type { RunError, RunRecord, RunStatus, RunStore, TerminalRunStatus } from '@tanstack/ai'
