// @ts-check
// A host that does one thing with a thread's checkpoints, and dies on the way as it is told.
import { createCheckpoints } from '@holdfast/middleware'
import { CallPoints } from './call-points.mjs'
import { crashSandbox, crashStores, fastClock } from './crash-app.mjs'
import { crashProvider } from './crash-provider.mjs'

/**
 * @typedef {object} CheckpointOrder
 * @property {string} url
 * @property {import('./crash-provider.mjs').ProviderChoice} provider
 * @property {'save' | 'restore' | 'rewind' | 'fork'} operation
 * @property {string} threadId
 * @property {string} checkpointId what to restore, rewind to or fork
 * @property {string} sandboxId where to restore
 * @property {string} forkId the thread that a fork begins
 * @property {import('./call-points.mjs').Crash | undefined} [crash]
 */

/** @type {CheckpointOrder} */
const order = JSON.parse(process.argv[2] ?? '{}')
const { threadId, checkpointId } = order
const points = new CallPoints(order.crash)
const stores = points.ofStores(crashStores(order.url))
const provider = points.of('provider', await crashProvider(order.provider))
const checkpoints = createCheckpoints({ stores, sandbox: crashSandbox(provider), clock: fastClock })

const OPERATIONS = {
  save: () => checkpoints.save({ threadId, label: 'by name' }),
  rewind: () => checkpoints.rewind({ threadId, checkpointId }),
  fork: () => checkpoints.fork({ threadId, checkpointId, destinationThreadId: order.forkId }),
  async restore() {
    const into = await provider.resume({ id: order.sandboxId })
    if (into === null) throw new Error(`There is no sandbox ${order.sandboxId}.`)
    return checkpoints.restore({ threadId, checkpointId, into })
  },
}

process.emitWarning = () => undefined
process.send?.({ started: true })
await OPERATIONS[order.operation]()
process.send?.({ done: true, calls: points.calls }, () => process.exit(0))
