import type { ThreadBusyError } from '@holdfast/core'
import { isHoldfastError } from '@holdfast/core'
import { driverStoreSuite } from '../../../src/conformance/stores/driver-store-suite.ts'
import { withBroken } from './store-mutant.ts'
import type { StoreMutant } from './store-mutant.ts'

/** Wrong driver stores. */
export const DRIVER_MUTANTS: readonly StoreMutant[] = [
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
    name: 'list gives an owner the runs of all',
    suite: driverStoreSuite,
    change: withBroken('drivers', (drivers) => ({
      list: async ({ ownerId, ...input }) => {
        // Malformed ids are refused as ever.
        if (ownerId !== undefined) await drivers.list({ ownerId, limit: 1 })
        return drivers.list(input)
      },
    })),
    detectedBy: ['driver.list.of-an-owner'],
  },
  {
    name: "list filters an owner's runs after the limit",
    suite: driverStoreSuite,
    change: withBroken('drivers', (drivers) => ({
      list: async ({ ownerId, ...input }) => {
        const found = await drivers.list(input)
        if (ownerId === undefined) return found
        const own = new Set((await drivers.list({ ...input, ownerId, limit: 100 })).map(({ runId }) => runId))
        return found.filter(({ runId }) => own.has(runId))
      },
    })),
    detectedBy: ['driver.list.of-an-owner'],
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
