import type { HoldfastStores } from '@holdfast/core'
import { stopRuns } from '@holdfast/middleware'
import { madeByProcess, perProcess } from './per-process.ts'

const stopping = Symbol.for('holdfast.example.stopping')

export function isStopping(): boolean {
  return stopping in globalThis
}

/** On SIGTERM or SIGINT runs are let go for another host, or the next start, to continue; then the process exits. */
export async function stopOnSignal(): Promise<void> {
  await perProcess('stop-on-signal', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop())
  })
}

async function stop(): Promise<void> {
  if (isStopping()) return
  Object.assign(globalThis, { [stopping]: true })
  try {
    const stores = await madeByProcess<HoldfastStores>('stores')
    if (stores !== undefined) {
      await stopRuns(stores)
      await stores.close()
    }
    process.exit(0)
  } catch (error) {
    console.error('The server did not stop cleanly.', error)
    process.exit(1)
  }
}
