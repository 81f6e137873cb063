import { runStoreSuite } from '../../../src/conformance/stores/run-store-suite.ts'
import { withBroken } from './store-mutant.ts'
import type { StoreMutant } from './store-mutant.ts'

/** Wrong run stores. */
export const RUN_MUTANTS: readonly StoreMutant[] = [
  {
    name: 'findActiveRun gives the oldest',
    suite: runStoreSuite,
    change: withBroken('runs', (runs) => ({
      findActiveRun: async (threadId) => {
        await runs.findActiveRun(threadId)
        const all = (await runs.listByThread?.(threadId)) ?? []
        return all.find(({ status }) => status === 'running') ?? null
      },
    })),
    detectedBy: ['run.active.newest-wins'],
  },
  {
    name: 'update forgets to clear',
    suite: runStoreSuite,
    change: withBroken('runs', (runs) => ({
      update: (runId, patch) => {
        const given = Object.entries(patch).filter(([, value]) => value !== undefined)
        return runs.update(runId, Object.fromEntries(given))
      },
    })),
    detectedBy: ['run.update.clears-undefined-fields'],
  },
  {
    name: 'update takes absent for undefined',
    suite: runStoreSuite,
    change: withBroken('runs', (runs) => ({
      update: (runId, patch) =>
        runs.update(runId, { error: undefined, sandboxKey: undefined, ...patch } as typeof patch),
    })),
    detectedBy: ['run.update.leaves-absent-fields'],
  },
  {
    name: 'update makes a record',
    suite: runStoreSuite,
    change: withBroken('runs', (runs) => ({
      update: async (runId, patch) => {
        if ((await runs.get(runId)) === null) await runs.createOrResume({ runId, threadId: 'made up', startedAt: 1 })
        await runs.update(runId, patch)
      },
    })),
    detectedBy: ['run.update.unknown-is-a-no-op'],
  },
  {
    name: 'createOrResume overwrites',
    suite: runStoreSuite,
    change: withBroken('runs', (runs) => ({
      createOrResume: async (input) => {
        const record = await runs.createOrResume(input)
        if (input.status === undefined || input.status === record.status) return record
        await runs.update(input.runId, { status: input.status })
        return { ...record, status: input.status }
      },
    })),
    detectedBy: ['run.create.returns-an-existing-record-unchanged'],
  },
  {
    name: 'cut-off is exclusive',
    suite: runStoreSuite,
    change: withBroken('runs', (runs) => ({
      listReclaimable: async ({ now, ttlMs }) => {
        const found = (await runs.listReclaimable?.({ now, ttlMs })) ?? []
        return found.filter(({ detachedSince = 0 }) => detachedSince < now - ttlMs)
      },
    })),
    detectedBy: ['run.reclaimable.cut-off-is-inclusive'],
  },
  {
    name: 'listByThread orders times as text',
    suite: runStoreSuite,
    change: withBroken('runs', (runs) => ({
      listByThread: async (threadId) => {
        const all = (await runs.listByThread?.(threadId)) ?? []
        return all.toSorted((left, right) => (String(left.startedAt) < String(right.startedAt) ? -1 : 1))
      },
    })),
    detectedBy: ['run.list-by-thread.ascending'],
  },
  {
    name: 'text loses NUL',
    suite: runStoreSuite,
    change: withBroken('runs', (runs) => ({
      update: (runId, patch) => {
        const text = patch.error?.message.replaceAll('\0', '')
        return runs.update(runId, text === undefined ? patch : { ...patch, error: { ...patch.error, message: text } })
      },
    })),
    detectedBy: ['run.text.is-kept-exactly'],
  },
  {
    name: 'ids ignore case',
    suite: runStoreSuite,
    change: withBroken('runs', (runs) => ({
      createOrResume: (input) => runs.createOrResume({ ...input, runId: input.runId.toLowerCase() }),
      get: (runId) => runs.get(runId.toLowerCase()),
    })),
    detectedBy: ['run.ids.odd-ones-are-kept-apart'],
  },
]
