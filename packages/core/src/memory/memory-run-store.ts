import type { RunRecord, RunStatus, RunStore } from '@tanstack/ai'
import { ThreadBusyError } from '../errors/error-classes.ts'
import { assertId, assertMs } from '../identifier.ts'
import { applyRunPatch, assertRunPatch, assertRunStatus } from '../runs/run-patch.ts'
import type { RunPatch } from '../runs/run-patch.ts'
import { compareUtf8 } from '../utf8-order.ts'
import { copyRecord } from './memory-copy.ts'
import { MemoryState } from './memory-state.ts'

type RunCreateInput = Pick<RunRecord, 'runId' | 'threadId' | 'startedAt'> & { status?: RunStatus }

/** TanStack's run records, in memory. */
export class MemoryRunStore implements Required<RunStore> {
  readonly #state: MemoryState

  constructor(state = new MemoryState()) {
    this.#state = state
  }

  async createOrResume(input: RunCreateInput): Promise<RunRecord> {
    this.#state.assertOpen()
    const runId = assertId('runId', input.runId)
    const threadId = assertId('threadId', input.threadId)
    const startedAt = assertMs('startedAt', input.startedAt)
    const status = input.status ?? 'running'
    assertRunStatus(status)
    const existing = this.#state.runs.find(runId)
    if (existing !== undefined) return copyRecord(existing)
    const record: RunRecord = { runId, threadId, status, startedAt }
    this.#state.runs.save(record)
    return copyRecord(record)
  }

  async update(runId: string, patch: RunPatch): Promise<void> {
    const { runs } = this.#state
    this.#state.assertOpen()
    assertId('runId', runId)
    assertRunPatch(patch)
    const record = runs.find(runId)
    if (record === undefined) return
    const next = copyRecord(applyRunPatch(record, patch))
    this.#assertThreadFree(record, next)
    runs.save(next)
    this.#state.logs.evict()
  }

  async get(runId: string): Promise<RunRecord | null> {
    this.#state.assertOpen()
    const record = this.#state.runs.find(assertId('runId', runId))
    return record === undefined ? null : copyRecord(record)
  }

  async listByThread(threadId: string): Promise<RunRecord[]> {
    return this.#ofThread(threadId).map(copyRecord)
  }

  async findActiveRun(threadId: string): Promise<RunRecord | null> {
    const active = this.#ofThread(threadId).findLast((run) => run.status === 'running')
    return active === undefined ? null : copyRecord(active)
  }

  async listReclaimable(input: { now: number; ttlMs: number }): Promise<RunRecord[]> {
    this.#state.assertOpen()
    const cutoff = assertMs('now', input.now) - assertMs('ttlMs', input.ttlMs)
    return this.#state.runs
      .all()
      .filter((run) => run.status === 'running' && run.detachedSince !== undefined && run.detachedSince <= cutoff)
      .sort((a, b) => (a.detachedSince ?? 0) - (b.detachedSince ?? 0) || compareUtf8(a.runId, b.runId))
      .map(copyRecord)
  }

  /** A claimed run that is made `running` again takes hold of its thread, which another may have meanwhile. */
  #assertThreadFree(before: RunRecord, after: RunRecord): void {
    const { runs } = this.#state
    if (runs.isHolding(before) || !runs.isHolding(after)) return
    const holder = this.#state.findHolder(after.threadId)
    if (holder !== undefined) throw new ThreadBusyError({ threadId: after.threadId, activeRunId: holder.runId })
  }

  #ofThread(threadId: string): RunRecord[] {
    this.#state.assertOpen()
    const runs = this.#state.runs.ofThread(assertId('threadId', threadId))
    return runs.sort((a, b) => a.startedAt - b.startedAt || compareUtf8(a.runId, b.runId))
  }
}
