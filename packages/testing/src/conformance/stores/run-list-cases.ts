import assert from 'node:assert/strict'
import type { RunRecord, RunStatus, RunStore } from '@holdfast/core'
import { BAD_TIMES, refusesBadArguments, refusesBadIds } from './bad-input.ts'
import { required } from './required.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'

interface StoredRun {
  runId: string
  threadId?: string
  startedAt?: number
  status?: RunStatus
  detachedSince?: number
}

async function storeRuns(runs: RunStore, records: readonly StoredRun[]): Promise<void> {
  for (const { runId, threadId = 'thread-1', startedAt = 1_000, status = 'running', detachedSince } of records) {
    await runs.createOrResume({ runId, threadId, startedAt, status })
    if (detachedSince !== undefined) await runs.update(runId, { detachedSince })
  }
}

const idsOf = (records: readonly RunRecord[]): string[] => records.map(({ runId }) => runId)

const STATUSES: readonly RunStatus[] = ['running', 'interrupted', 'completed', 'failed', 'aborted']

export const runListCases: readonly StoreCase[] = [
  storeCase(
    'run.active.none-is-null',
    'findActiveRun is null for a thread without a running run',
    async ({ stores: { runs } }) => {
      assert.equal(await runs.findActiveRun('thread-1'), null)
      const ended = STATUSES.filter((status) => status !== 'running')
      await storeRuns(
        runs,
        ended.map((status) => ({ runId: status, status })),
      )
      assert.equal(await runs.findActiveRun('thread-1'), null)
    },
  ),
  storeCase(
    'run.active.newest-wins',
    'findActiveRun gives the running run that started last',
    async ({ stores: { runs } }) => {
      await storeRuns(runs, [
        { runId: 'middle', startedAt: 2_000 },
        { runId: 'newest', startedAt: 3_000 },
        { runId: 'oldest', startedAt: 1_000 },
        { runId: 'ended', startedAt: 4_000, status: 'completed' },
      ])
      assert.equal((await runs.findActiveRun('thread-1'))?.runId, 'newest')
      await runs.update('newest', { status: 'completed' })
      assert.equal((await runs.findActiveRun('thread-1'))?.runId, 'middle')
    },
  ),
  storeCase(
    'run.active.own-thread-only',
    "findActiveRun looks at the given thread's runs only",
    async ({ stores: { runs } }) => {
      await storeRuns(runs, [
        { runId: 'run-1', threadId: 'thread-1' },
        { runId: 'run-2', threadId: 'thread-2' },
      ])
      assert.equal((await runs.findActiveRun('thread-1'))?.runId, 'run-1')
      assert.equal(await runs.findActiveRun('thread'), null)
    },
  ),
  storeCase(
    'run.list-by-thread.ascending',
    'listByThread gives all runs of a thread by startedAt',
    async ({ stores: { runs } }) => {
      const list = required(runs.listByThread, 'listByThread').bind(runs)
      await storeRuns(runs, [
        { runId: 'third', startedAt: 10_000, status: 'failed' },
        { runId: 'first', startedAt: 900 },
        { runId: 'second', startedAt: 1_000, status: 'completed' },
        { runId: 'elsewhere', threadId: 'thread-2' },
      ])
      assert.deepEqual(idsOf(await list('thread-1')), ['first', 'second', 'third'])
      assert.deepEqual(await list('nothing'), [])
    },
    ['runs.listByThread'],
  ),
  storeCase(
    'run.reclaimable.cut-off-is-inclusive',
    'listReclaimable includes a run detached exactly ttlMs ago',
    async ({ stores: { runs } }) => {
      const list = required(runs.listReclaimable, 'listReclaimable').bind(runs)
      await storeRuns(runs, [
        { runId: 'just', detachedSince: 4_000 },
        { runId: 'later', detachedSince: 4_001 },
        { runId: 'long-ago', detachedSince: 1 },
      ])
      const found = idsOf(await list({ now: 5_000, ttlMs: 1_000 }))
      assert.deepEqual(found.toSorted(), ['just', 'long-ago'])
      assert.deepEqual(idsOf(await list({ now: 5_000, ttlMs: 0 })).toSorted(), ['just', 'later', 'long-ago'])
    },
    ['runs.listReclaimable'],
  ),
  storeCase(
    'run.reclaimable.detached-and-running-only',
    'listReclaimable leaves out runs that are attached or not running',
    async ({ stores: { runs } }) => {
      const list = required(runs.listReclaimable, 'listReclaimable').bind(runs)
      await storeRuns(runs, [
        { runId: 'attached' },
        ...STATUSES.map((status) => ({ runId: status, status, detachedSince: 1 })),
      ])
      assert.deepEqual(idsOf(await list({ now: 5_000, ttlMs: 0 })), ['running'])
    },
    ['runs.listReclaimable'],
  ),
  storeCase(
    'run.lists.bad-input-is-refused',
    'lists refuse malformed ids and times',
    async ({ stores: { runs } }) => {
      const byThread = required(runs.listByThread, 'listByThread').bind(runs)
      const reclaimable = required(runs.listReclaimable, 'listReclaimable').bind(runs)
      await refusesBadIds({ listByThread: byThread })
      await refusesBadArguments(BAD_TIMES, {
        now: (now) => reclaimable({ now, ttlMs: 1 }),
        ttlMs: (ttlMs) => reclaimable({ now: 1, ttlMs }),
      })
    },
    ['runs.listByThread', 'runs.listReclaimable'],
  ),
]
