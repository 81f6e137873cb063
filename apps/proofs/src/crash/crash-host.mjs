// @ts-check
// A host that dies at one call of its stores or its provider, as SIGKILL does it. Tells its parent what its viewer sees.
import { createPostgresStores } from '@holdfast/store-drizzle'
import { crashApp, eventsOf, fastStores, sendRequest } from './crash-app.mjs'
import { crashProvider } from './crash-provider.mjs'

/**
 * @typedef {object} CrashOrder
 * @property {string} url
 * @property {import('./crash-provider.mjs').ProviderChoice} provider
 * @property {string} runId
 * @property {string} threadId
 * @property {{ call: number, when: 'before' | 'after', as?: 'SIGKILL' | 'SIGSTOP' } | undefined} [crash]
 */

/** @type {CrashOrder} */
const order = JSON.parse(process.argv[2] ?? '{}')
/** @type {string[]} */
const calls = []

/** Timers make these, whenever they fire; they are no points of the run. */
const UNCOUNTED = new Set(['drivers.renew', 'drivers.onCancel'])

/**
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} work
 */
async function point(name, work) {
  if (UNCOUNTED.has(name)) return work()
  const call = calls.push(name)
  dieAt(call, 'before')
  try {
    return await work()
  } finally {
    dieAt(call, 'after')
  }
}

function dieAt(/** @type {number} */ call, /** @type {'before' | 'after'} */ when) {
  const { crash } = order
  if (crash !== undefined && crash.call === call && crash.when === when)
    process.kill(process.pid, crash.as ?? 'SIGKILL')
}

/**
 * The same object, each of whose calls is a point.
 * @template {object} T
 * @param {string} name
 * @param {T} target
 * @param {readonly string[]} [nested] groups whose calls are points too
 * @returns {T}
 */
function pointed(name, target, nested = []) {
  return new Proxy(target, {
    get(object, key) {
      const value = Reflect.get(object, key)
      if (nested.includes(String(key)) && value !== null && typeof value === 'object') {
        return pointed(`${name}.${String(key)}`, value)
      }
      if (typeof value !== 'function' || typeof key !== 'string') return value
      if (key === 'capabilities') return value.bind(object)
      return (/** @type {unknown[]} */ ...args) => {
        if (key === 'open') return pointedLog(value.apply(object, args))
        return point(`${name}.${key}`, async () => wrapHandle(await value.apply(object, args)))
      }
    },
  })
}

/** A sandbox that a provider hands out is watched too. */
function wrapHandle(/** @type {any} */ result) {
  const isHandle = result !== null && typeof result === 'object' && 'fs' in result && 'process' in result
  return isHandle ? pointed('sandbox', result, ['fs', 'process', 'env']) : result
}

function pointedLog(/** @type {import('@holdfast/core').EventLog} */ log) {
  /** @type {import('@holdfast/core').EventLog} */
  const watched = {
    runId: log.runId,
    resumeFrom: () => log.resumeFrom(),
    append: (chunks) => point('log.append', () => log.append(chunks)),
    close: () => point('log.close', () => log.close()),
    snapshot: () => point('log.snapshot', () => log.snapshot()),
    read: (offset, signal) => log.read(offset, signal),
  }
  return watched
}

const real = fastStores(createPostgresStores({ url: order.url }))
const stores = {
  ...real,
  runs: pointed('runs', real.runs),
  drivers: pointed('drivers', real.drivers),
  eventLog: pointed('eventLog', real.eventLog),
  instances: pointed('instances', real.instances),
  threads: pointed('threads', real.threads),
  messages: pointed('messages', real.messages),
  metadata: pointed('metadata', real.metadata),
}
const provider = pointed('provider', await crashProvider(order.provider))
const app = crashApp(stores, provider)
process.emitWarning = () => undefined
process.send?.({ started: true })
const response = await app.handle(sendRequest(order.runId, order.threadId))
for await (const event of eventsOf(response)) process.send?.({ event })
// The record is written after the last event has been shown.
await new Promise((resolve) => setTimeout(resolve, 200))
process.send?.({ done: true, status: response.status, calls }, () => process.exit(0))
