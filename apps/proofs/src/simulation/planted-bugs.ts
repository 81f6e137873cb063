import { isHoldfastError } from '@holdfast/core'
import type { EventLog, HoldfastStores, WriteFence } from '@holdfast/core'
import type { ModelMessage } from '@tanstack/ai'
import { isFinal } from './final-event.ts'
import type { Mutant } from './mutant.ts'
import { overriding } from './observed-stores.ts'

type Stores = HoldfastStores

/** The same stores with another way to write to logs. */
function withLog(stores: Stores, change: (log: EventLog, stores: Stores) => Partial<EventLog>): Stores {
  const { eventLog } = stores
  const open: typeof eventLog.open = (input) => {
    const log = eventLog.open(input)
    return overriding(log, change(log, stores))
  }
  return { ...stores, eventLog: overriding(eventLog, { open }) }
}

/** The store takes whatever comes, and a host whose lease has lapsed never hears of it. */
function unfenced(stores: Stores): Stores {
  const current = async <T extends WriteFence>(fence: T): Promise<T> => {
    const epoch = (await stores.runs.get(fence.runId))?.driverEpoch ?? fence.epoch
    return { ...fence, epoch }
  }
  const { drivers, eventLog, messages } = stores
  return {
    ...stores,
    drivers: overriding(drivers, {
      renew: () => Promise.resolve({ expiresAt: Number.MAX_SAFE_INTEGER }),
      finish: async (input) => drivers.finish(await current(input)),
    }),
    eventLog: overriding(eventLog, {
      open(input) {
        const log = eventLog.open(input)
        if (input.epoch === undefined) return log
        const fence = { runId: input.runId, epoch: input.epoch }
        return overriding(log, {
          append: async (chunks) => eventLog.open(await current(fence)).append(chunks),
          close: async () => eventLog.open(await current(fence)).close(),
        })
      },
    }),
    messages: overriding(messages, { saveThread: (threadId, list) => messages.saveThread(threadId, list) }),
  }
}

/** The record says that the run has ended before its log does. */
function recordBeforeLog(stores: Stores): Stores {
  const open = new Map<string, EventLog>()
  const { drivers } = stores
  const late = withLog(stores, (log) => ({
    async close() {
      open.set(log.runId, log)
    },
  }))
  return {
    ...late,
    drivers: overriding(drivers, {
      async finish(input) {
        const isFirst = await drivers.finish(input)
        await open.get(input.runId)?.close()
        return isFirst
      },
    }),
  }
}

function withoutProgress(message: ModelMessage): ModelMessage {
  const { holdfastStarted: _forgotten, ...metadata } = message.metadata ?? {}
  return { ...message, metadata }
}

async function* skipFirst<T>(items: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  let isFirst = true
  for await (const item of items) {
    if (!isFirst) yield item
    isFirst = false
  }
}

/** Bugs that the simulation has to find. */
export const PLANTED_BUGS: readonly Mutant[] = [
  { name: 'a lapsed driver goes on writing, and the store asks for no epoch', shared: unfenced },
  {
    name: 'the last event is appended twice',
    stores: (stores) =>
      withLog(stores, (log) => ({
        append: (chunks) => log.append(isFinal(chunks.at(-1)) ? [...chunks, ...chunks.slice(-1)] : chunks),
      })),
  },
  { name: 'the record ends before the log is closed', stores: recordBeforeLog },
  {
    name: 'a successor forgets which tools had begun',
    stores: (stores) => ({
      ...stores,
      messages: overriding(stores.messages, {
        loadThread: async (threadId) => (await stores.messages.loadThread(threadId)).map(withoutProgress),
      }),
    }),
  },
  {
    name: 'a cancel from another host is lost',
    stores: (stores) => ({
      ...stores,
      drivers: overriding(stores.drivers, { requestCancel: () => Promise.resolve() }),
    }),
  },
  {
    name: 'an append whose answer was lost is repeated without a look',
    stores: (stores) =>
      withLog(stores, (log) => ({
        append: (chunks) =>
          log.append(chunks).catch((error: unknown) => {
            if (isHoldfastError(error, 'STORE_OUTCOME_UNKNOWN')) return log.append(chunks)
            throw error
          }),
      })),
  },
  {
    name: 'a successor overlooks that the log has its last event',
    stores: (stores) =>
      withLog(stores, (log) => ({
        snapshot: async () => (await log.snapshot()).filter(({ chunk }) => !isFinal(chunk)),
      })),
  },
  {
    name: 'a cancelled run skips what has to happen at its end',
    driver: (driver) => ({
      ...driver,
      drive(run, input) {
        const { session } = run
        const runEndHandlers = session.runEndHandlers.bind(session)
        const runEndHandler = session.runEndHandler.bind(session)
        const isCancelled = (): boolean => session.stopReason === 'cancel'
        session.runEndHandlers = (outcome) => (isCancelled() ? Promise.resolve() : runEndHandlers(outcome))
        session.runEndHandler = (name, outcome) => (isCancelled() ? Promise.resolve() : runEndHandler(name, outcome))
        return driver.drive(run, input)
      },
    }),
  },
  {
    name: 'a cancelled run keeps its sandbox, and nobody is told to look after it',
    sandbox: (sandbox) => ({ ...sandbox, destroy: () => Promise.resolve() }),
    stores: (stores) => ({
      ...stores,
      instances: overriding(stores.instances, { list: () => Promise.resolve({ records: [] }) }),
    }),
  },
  {
    name: 'the row of a sandbox goes although the sandbox stays',
    sandbox: (sandbox) => ({
      ...sandbox,
      destroy: async (context) => context.store?.delete(sandbox.key(context)),
    }),
  },
  {
    name: 'the reaper finds no run whose host has died',
    stores: (stores) => ({
      ...stores,
      drivers: overriding(stores.drivers, { listOrphaned: () => Promise.resolve([]) }),
      runs: overriding(stores.runs, { listReclaimable: () => Promise.resolve([]) }),
    }),
  },
  {
    name: 'what the policy asks about is simply done',
    sandbox: (sandbox) => ({ ...sandbox, policy: { default: 'allow' } }),
  },
  {
    name: 'a reader that comes back misses one event',
    stores: (stores) =>
      withLog(stores, (log) => ({
        read: (offset, signal) => {
          const entries = log.read(offset, signal)
          return offset === '-1' ? entries : skipFirst(entries)
        },
      })),
  },
  {
    name: 'a successor says again what was said, and takes nothing back',
    stores: (stores) =>
      withLog(stores, (log) => ({
        append: (chunks) => log.append(chunks.filter((chunk) => chunk.type !== 'MESSAGES_SNAPSHOT')),
      })),
  },
]
