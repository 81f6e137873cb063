import type { RunRecord } from '@tanstack/ai'
import { isTerminalRunStatus } from '@tanstack/ai'
import { DriverLostError } from '../errors/error-classes.ts'
import { assertId, assertMs } from '../identifier.ts'
import { assertPageSize } from '../page.ts'
import type {
  CancelRequest,
  DriverClaim,
  DriverClaimInput,
  DriverFinishInput,
  DriverInfo,
  DriverStore,
  RunListInput,
  WriteFence,
} from '../runs/driver-store.ts'
import { assertClaimInput, assertFence, assertRunIds, finishPatch } from '../runs/driver-check.ts'
import { applyRunPatch, assertRunStatus } from '../runs/run-patch.ts'
import { compareUtf8 } from '../utf8-order.ts'
import { assertClaimable } from './claim-refusal.ts'
import { copyRecord } from './memory-copy.ts'
import { MemoryState } from './memory-state.ts'
import type { DriverRow } from './run-table.ts'

/** Who drives a run, in memory. */
export class MemoryDriverStore implements DriverStore {
  readonly #state: MemoryState

  constructor(state = new MemoryState()) {
    this.#state = state
  }

  async claim(input: DriverClaimInput): Promise<DriverClaim> {
    const { runs, clock } = this.#state
    this.#state.assertOpen()
    assertClaimInput(input)
    const { runId, threadId, owner, ttlMs, sandboxKey } = input
    const now = clock.now()
    const existing = runs.find(runId)
    assertClaimable(this.#state, existing, input, now)
    const epoch = (runs.findDriver(runId)?.epoch ?? 0) + 1
    const driver = { epoch, owner, expiresAt: now + ttlMs }
    const record: RunRecord = {
      ...(existing ?? { runId, threadId, startedAt: now }),
      status: 'running',
      driverEpoch: epoch,
    }
    delete record.detachedSince
    delete record.finishedAt
    if (sandboxKey !== undefined) record.sandboxKey = sandboxKey
    runs.saveDriver(runId, driver)
    runs.save(record)
    return { epoch, expiresAt: driver.expiresAt, created: existing === undefined }
  }

  async renew(input: WriteFence & { ttlMs: number }): Promise<{ expiresAt: number }> {
    this.#state.assertOpen()
    const ttlMs = assertMs('ttlMs', input.ttlMs)
    const current = this.#current(input)
    if (current === undefined) throw new DriverLostError({ runId: input.runId, epoch: input.epoch })
    current.driver.expiresAt = this.#state.clock.now() + ttlMs
    return { expiresAt: current.driver.expiresAt }
  }

  async release(input: WriteFence): Promise<void> {
    this.#state.assertOpen()
    const current = this.#current(input)
    if (current !== undefined) this.#endLease(current.driver)
  }

  async detach(input: WriteFence & { sandboxKey?: string }): Promise<boolean> {
    this.#state.assertOpen()
    if (input.sandboxKey !== undefined) assertId('sandboxKey', input.sandboxKey)
    const current = this.#current(input)
    if (current === undefined) return false
    const { record } = current
    const detachedSince = record.detachedSince ?? this.#state.clock.now()
    const sandboxKey = input.sandboxKey ?? record.sandboxKey
    this.#state.runs.save({ ...record, detachedSince, ...(sandboxKey === undefined ? {} : { sandboxKey }) })
    return true
  }

  async finish(input: DriverFinishInput): Promise<boolean> {
    this.#state.assertOpen()
    const patch = finishPatch(input, this.#state.clock.now())
    const current = this.#current(input)
    if (current === undefined) return false
    this.#endLease(current.driver)
    this.#state.runs.save(copyRecord(applyRunPatch(current.record, patch)))
    this.#state.logs.evict()
    return true
  }

  async listOrphaned(input: { now?: number; graceMs: number; limit: number }): Promise<RunRecord[]> {
    const { runs, clock } = this.#state
    this.#state.assertOpen()
    const now = input.now === undefined ? clock.now() : assertMs('now', input.now)
    const cutoff = now - assertMs('graceMs', input.graceMs)
    const limit = assertPageSize(input.limit, 0)
    const endOf = (run: RunRecord): number => runs.findDriver(run.runId)?.expiresAt ?? Number.POSITIVE_INFINITY
    return runs
      .all()
      .filter((run) => run.status === 'running' && run.detachedSince === undefined && endOf(run) < cutoff)
      .sort((a, b) => endOf(a) - endOf(b) || compareUtf8(a.runId, b.runId))
      .slice(0, limit)
      .map(copyRecord)
  }

  async list(input: RunListInput): Promise<RunRecord[]> {
    const { runs, threads } = this.#state
    this.#state.assertOpen()
    const { threadId, ownerId, status } = input
    if (status !== undefined) assertRunStatus(status)
    if (ownerId !== undefined) assertId('ownerId', ownerId)
    const limit = assertPageSize(input.limit, 0)
    const found = threadId === undefined ? runs.all() : runs.ofThread(assertId('threadId', threadId))
    return found
      .filter((run) => status === undefined || run.status === status)
      .filter((run) => ownerId === undefined || threads.get(run.threadId)?.ownerId === ownerId)
      .sort((a, b) => b.startedAt - a.startedAt || compareUtf8(b.runId, a.runId))
      .slice(0, limit)
      .map(copyRecord)
  }

  async findDrivers({ runIds }: { runIds: readonly string[] }): Promise<DriverInfo[]> {
    const { runs, clock } = this.#state
    this.#state.assertOpen()
    const now = clock.now()
    return assertRunIds(runIds).flatMap((runId) => {
      const driver = runs.findDriver(runId)
      if (driver === undefined) return []
      return [{ runId, ...driver, isLive: runs.find(runId)?.status === 'running' && driver.expiresAt > now }]
    })
  }

  async requestCancel(input: { runId: string; keepSandbox?: boolean }): Promise<void> {
    const { runs } = this.#state
    this.#state.assertOpen()
    const record = runs.find(assertId('runId', input.runId))
    if (record === undefined || isTerminalRunStatus(record.status) || record.cancelRequested === true) return
    if (input.keepSandbox === true) runs.keepSandbox(record.runId)
    runs.save({ ...record, cancelRequested: true })
  }

  async onCancel(runId: string, signal: AbortSignal): Promise<CancelRequest> {
    // Nothing is awaited between looking and listening, so that no request falls in between.
    const present = this.#cancelOf(runId)
    if (present !== null) return present
    signal.throwIfAborted()
    return await new Promise<CancelRequest>((resolve, reject) => {
      const settle = (): void => {
        signal.removeEventListener('abort', onAbort)
        forgetCancel()
        forgetClose()
      }
      const onAbort = (): void => {
        settle()
        reject(signal.reason as Error)
      }
      const forgetCancel = this.#state.runs.onCancel(runId, () => {
        settle()
        resolve({ runId, keepSandbox: this.#state.runs.keepsSandbox(runId) })
      })
      const forgetClose = this.#state.onClose((error) => {
        settle()
        reject(error)
      })
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  async findCancel(runId: string): Promise<CancelRequest | null> {
    return this.#cancelOf(runId)
  }

  #cancelOf(runId: string): CancelRequest | null {
    this.#state.assertOpen()
    const record = this.#state.runs.find(assertId('runId', runId))
    if (record?.cancelRequested !== true) return null
    return { runId, keepSandbox: this.#state.runs.keepsSandbox(runId) }
  }

  /** The run and its driver while the epoch is the current one and the run runs. */
  #current(fence: WriteFence): { record: RunRecord; driver: DriverRow } | undefined {
    assertFence(fence)
    const record = this.#state.runs.find(fence.runId)
    const driver = this.#state.runs.findDriver(fence.runId)
    if (record?.status !== 'running' || driver?.epoch !== fence.epoch) return undefined
    return { record, driver }
  }

  #endLease(driver: DriverRow): void {
    driver.expiresAt = Math.min(driver.expiresAt, this.#state.clock.now())
  }
}
