import type { ThreadBusyError } from '@holdfast/core'
import { isHoldfastError } from '@holdfast/core'
import { driverStoreSuite } from '../../../src/conformance/stores/driver-store-suite.ts'
import { runStoreSuite } from '../../../src/conformance/stores/run-store-suite.ts'
import { withBroken } from './store-mutant.ts'
import type { StoreMutant } from './store-mutant.ts'

const runMutants: readonly StoreMutant[] = [
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

const driverMutants: readonly StoreMutant[] = [
  {
    name: 'findDrivers takes every lease for a live one',
    suite: driverStoreSuite,
    change: withBroken('drivers', (drivers) => ({
      findDrivers: async (input) =>
        ((await drivers.findDrivers?.(input)) ?? []).map((driver) => ({ ...driver, isLive: true })),
    })),
    detectedBy: ['driver.find-drivers'],
  },
  {
    name: 'claim allows two runs on one thread',
    suite: driverStoreSuite,
    change: withBroken('drivers', (drivers, { runs }) => ({
      claim: async (input) => {
        try {
          return await drivers.claim(input)
        } catch (error) {
          if (!isHoldfastError(error, 'THREAD_BUSY')) throw error
          const holder = String((error as ThreadBusyError).details['activeRunId'])
          await runs.update(holder, { status: 'interrupted' })
          const claimed = await drivers.claim(input)
          await runs.update(holder, { status: 'running' })
          return claimed
        }
      },
    })),
    detectedBy: [
      'driver.claim.thread-busy',
      'driver.claim.thread-busy-for-a-recorded-run',
      'driver.claim.released-still-holds',
      'driver.claim.unclaimed-records-hold-nothing',
      'driver.claim.one-of-many-at-once',
    ],
  },
  {
    name: 'a refused claim leaves its record',
    suite: driverStoreSuite,
    change: withBroken('drivers', (drivers, { runs }) => ({
      claim: async (input) => {
        const claimed = await drivers.claim(input).catch(async (error: unknown) => {
          const { runId, threadId } = input
          if (isHoldfastError(error, 'THREAD_BUSY')) await runs.createOrResume({ runId, threadId, startedAt: 1 })
          throw error
        })
        return claimed
      },
    })),
    detectedBy: ['driver.claim.thread-busy', 'driver.claim.released-still-holds', 'driver.claim.one-of-many-at-once'],
  },
  {
    name: 'claim leaves detachedSince',
    suite: driverStoreSuite,
    change: withBroken('drivers', (drivers, { runs }) => ({
      claim: async (input) => {
        const detachedSince = (await runs.get(input.runId).catch(() => null))?.detachedSince
        const claimed = await drivers.claim(input)
        if (detachedSince !== undefined) await runs.update(input.runId, { detachedSince })
        return claimed
      },
    })),
    detectedBy: ['driver.claim.clears-detached-since'],
  },
  {
    name: 'finish accepts a stale epoch',
    suite: driverStoreSuite,
    change: withBroken('drivers', (drivers, { runs }) => ({
      finish: async (input) => {
        const epoch = Number.isInteger(input.epoch) && input.epoch > 0 ? (await runs.get(input.runId))?.driverEpoch : 0
        return drivers.finish({ ...input, epoch: epoch || input.epoch })
      },
    })),
    detectedBy: ['driver.finish.stale-epoch'],
  },
  {
    name: 'finish overwrites the first result',
    suite: driverStoreSuite,
    change: withBroken('drivers', (drivers, { runs }) => ({
      finish: async (input) => {
        const done = await drivers.finish(input)
        if (!done && (await runs.get(input.runId))?.driverEpoch === input.epoch) {
          await runs.update(input.runId, { status: input.status })
        }
        return done
      },
    })),
    detectedBy: ['driver.finish.first-result-stands'],
  },
  {
    name: 'a stale release ends the lease',
    suite: driverStoreSuite,
    change: withBroken('drivers', (drivers, { runs }) => ({
      release: async (input) => {
        const epoch = Number.isInteger(input.epoch) && input.epoch > 0 ? (await runs.get(input.runId))?.driverEpoch : 0
        await drivers.release({ ...input, epoch: epoch || input.epoch })
      },
    })),
    detectedBy: ['driver.release.stale-changes-nothing'],
  },
  {
    name: 'renew revives a stale epoch',
    suite: driverStoreSuite,
    change: withBroken('drivers', (drivers, { runs }) => ({
      renew: async (input) => {
        const epoch = Number.isInteger(input.epoch) && input.epoch > 0 ? (await runs.get(input.runId))?.driverEpoch : 0
        return drivers.renew({ ...input, epoch: epoch || input.epoch })
      },
    })),
    detectedBy: ['driver.renew.superseded'],
  },
  {
    name: 'an expired lease is not renewed',
    suite: driverStoreSuite,
    change: withBroken('drivers', (drivers) => ({
      renew: async (input) => {
        const orphaned = await drivers.listOrphaned({ graceMs: 0, limit: 100 })
        if (orphaned.some(({ runId }) => runId === input.runId)) {
          return drivers.renew({ ...input, epoch: input.epoch + 1 })
        }
        return drivers.renew(input)
      },
    })),
    detectedBy: ['driver.renew.expired-but-not-taken', 'driver.orphaned.grace'],
  },
  {
    name: 'detach moves the time again',
    suite: driverStoreSuite,
    change: withBroken('drivers', (drivers, { runs }) => ({
      detach: async (input) => {
        if ((await drivers.detach(input)) === false) return false
        await runs.update(input.runId, { detachedSince: undefined } as never)
        return drivers.detach(input)
      },
    })),
    detectedBy: ['driver.detach.sets-the-time'],
  },
  {
    name: 'orphans include detached runs',
    suite: driverStoreSuite,
    change: withBroken('drivers', (drivers, { runs }) => ({
      listOrphaned: async (input) => [
        ...(await drivers.listOrphaned(input)),
        ...((await runs.listReclaimable?.({ now: Date.UTC(2100, 0), ttlMs: 0 })) ?? []),
      ],
    })),
    detectedBy: ['driver.orphaned.leaves-out'],
  },
  {
    name: 'orphans come newest first',
    suite: driverStoreSuite,
    change: withBroken('drivers', (drivers) => ({
      listOrphaned: async (input) => (await drivers.listOrphaned(input)).toReversed(),
    })),
    detectedBy: ['driver.orphaned.oldest-first'],
  },
  {
    name: 'onCancel is never woken',
    hangs: true,
    suite: driverStoreSuite,
    change: withBroken('drivers', (drivers) => ({
      onCancel: async (runId, signal) => {
        const request = await drivers.findCancel(runId)
        if (request !== null) return request
        signal.throwIfAborted()
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
        })
      },
    })),
    detectedBy: [
      'driver.on-cancel.wakes-every-waiter',
      'driver.on-cancel.own-run-only',
      'driver.on-cancel.before-the-record',
    ],
  },
  {
    name: 'cancel forgets to keep the sandbox',
    suite: driverStoreSuite,
    change: withBroken('drivers', (drivers) => ({ requestCancel: ({ runId }) => drivers.requestCancel({ runId }) })),
    detectedBy: ['driver.cancel.keep-sandbox', 'driver.on-cancel.requested-before'],
  },
  {
    name: 'finalize takes a live lease',
    suite: driverStoreSuite,
    change: withBroken('drivers', (drivers, { runs }) => ({
      claim: async (input) => {
        const epoch = input.purpose === 'finalize' ? (await runs.get(input.runId))?.driverEpoch : undefined
        if (epoch !== undefined) await drivers.release({ runId: input.runId, epoch })
        return drivers.claim(input)
      },
    })),
    detectedBy: ['driver.claim.finalize-accepts-cancelled'],
  },
]

export const RUN_MUTANTS: readonly StoreMutant[] = [...runMutants, ...driverMutants]
