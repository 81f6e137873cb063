import { stopRuns } from '@holdfast/middleware'
import { perProcess } from './per-process.ts'
import { reaper } from './reaper.ts'
import { stores } from './stores.ts'

const shutdown = perProcess('shutdown', () => ({ isStopping: false, isListening: false }))

export function isStopping(): boolean {
  return shutdown.isStopping
}

/** On SIGTERM or SIGINT runs are let go for another host, or the next start, to continue; then the process exits. */
export function stopOnSignal(): void {
  if (shutdown.isListening) return
  shutdown.isListening = true
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop())
}

async function stop(): Promise<void> {
  if (shutdown.isStopping) return
  shutdown.isStopping = true
  try {
    await reaper().stop()
    await stopRuns(stores())
    await stores().close()
    process.exit(0)
  } catch (error) {
    console.error('The server did not stop cleanly.', error)
    process.exit(1)
  }
}
