// @ts-check
// A host that dies at one call of its stores or its provider, as SIGKILL does it. Tells its parent what its viewer sees.
import { CallPoints } from './call-points.mjs'
import { crashApp, crashStores, eventsOf, sendRequest } from './crash-app.mjs'
import { crashProvider } from './crash-provider.mjs'

/**
 * @typedef {object} CrashOrder
 * @property {string} url
 * @property {import('./crash-provider.mjs').ProviderChoice} provider
 * @property {string} runId
 * @property {string} threadId
 * @property {boolean} [savesCheckpoints]
 * @property {import('./call-points.mjs').Crash | undefined} [crash]
 */

/** @type {CrashOrder} */
const order = JSON.parse(process.argv[2] ?? '{}')
const points = new CallPoints(order.crash)
const stores = points.ofStores(crashStores(order.url))
const provider = points.of('provider', await crashProvider(order.provider))
const app = crashApp(stores, provider, order)
process.emitWarning = () => undefined
process.send?.({ started: true })
const response = await app.handle(sendRequest(order.runId, order.threadId))
for await (const event of eventsOf(response)) process.send?.({ event })
// The record is written after the last event has been shown.
await new Promise((resolve) => setTimeout(resolve, 200))
process.send?.({ done: true, status: response.status, calls: points.calls }, () => process.exit(0))
