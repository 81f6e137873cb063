import type { EventLog, EventLogEntry, EventOffset, FencedLockStore, HoldfastStores } from '@holdfast/core'
import type { LeaseLocks } from './lease-locks.ts'
import type { SimHost } from './sim-host.ts'
import type { CallKind, SimWorld } from './sim-world.ts'

const READS = /^(get|find|list|load|ping)/

function kindOf(method: string): CallKind {
  return READS.test(method) ? 'read' : 'write'
}

/** The stores as one host sees them: each call is a journey of its own. */
export function interposedStores(
  world: SimWorld,
  host: SimHost,
  base: HoldfastStores,
  locks: LeaseLocks,
): HoldfastStores {
  const over = <T extends object>(name: string, store: T): T => interpose(world, host, name, store)
  const drivers = over('drivers', base.drivers)
  return {
    ...base,
    runs: over('runs', base.runs),
    drivers: Object.assign(Object.create(drivers) as HoldfastStores['drivers'], {
      // A wait, not a call: it is the answer that travels.
      onCancel: async (runId: string, signal: AbortSignal) => {
        await world.send(host, 'drivers.onCancel', 'read', () => Promise.resolve())
        const request = await base.drivers.onCancel(runId, signal)
        return world.send(host, 'drivers.cancelled', 'read', () => Promise.resolve(request))
      },
    }),
    eventLog: Object.assign(Object.create(over('eventLog', base.eventLog)) as HoldfastStores['eventLog'], {
      open: (input: Parameters<HoldfastStores['eventLog']['open']>[0]) =>
        interposedLog(world, host, base.eventLog.open(input)),
    }),
    instances: over('instances', base.instances),
    locks: { withLock: locks.withLock.bind(locks, host) } as FencedLockStore,
    threads: over('threads', base.threads),
    messages: over('messages', base.messages),
    interrupts: over('interrupts', base.interrupts),
    metadata: over('metadata', base.metadata),
  }
}

type AnyMethod = (...args: unknown[]) => Promise<unknown>

function interpose<T extends object>(world: SimWorld, host: SimHost, name: string, store: T): T {
  const methods = new Map<PropertyKey, unknown>()
  return new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key)
      if (typeof value !== 'function' || typeof key !== 'string') return value
      let method = methods.get(key)
      if (method === undefined) {
        const original = value as AnyMethod
        method = (...args: unknown[]) => {
          // What is sent is what was there when it was sent.
          const sent = structuredClone(args)
          return world.send(host, `${name}.${key}`, kindOf(key), () => original.apply(target, sent))
        }
        methods.set(key, method)
      }
      return method
    },
  })
}

function interposedLog(world: SimWorld, host: SimHost, log: EventLog): EventLog {
  return {
    runId: log.runId,
    resumeFrom: () => log.resumeFrom(),
    append(chunks) {
      const sent = structuredClone(chunks)
      return world.send(host, `log.append(${chunks.length})`, 'write', () => log.append(sent))
    },
    close: () => world.send(host, 'log.close', 'write', () => log.close()),
    snapshot: () => world.send(host, 'log.snapshot', 'read', () => log.snapshot()),
    read: (offset, signal) => interposedRead(world, host, log, offset, signal),
  }
}

async function* interposedRead(
  world: SimWorld,
  host: SimHost,
  log: EventLog,
  offset: EventOffset,
  signal: AbortSignal | undefined,
): AsyncGenerator<EventLogEntry, void, undefined> {
  const iterator = log.read(offset, signal)[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await iterator.next()
      if (next.done === true) return
      await world.send(host, 'log.read', 'read', () => Promise.resolve())
      yield next.value
    }
  } finally {
    await iterator.return?.()
  }
}
