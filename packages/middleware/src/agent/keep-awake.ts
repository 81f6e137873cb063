import { isHoldfastError } from '@holdfast/core'
import type { Clock, SandboxHandle } from '@holdfast/core'

/** Well under the shortest time after which a service stops an idle sandbox. */
const REFRESH_EVERY_MS = 60_000

/**
 * Tells the service again and again that the sandbox is in use: a command that works in silence looks idle to it. A try
 * that fails is made again with the next. Answers how to stop.
 */
export function keepAwake(handle: Pick<SandboxHandle, 'refreshActivity'>, clock: Clock): () => void {
  if (handle.refreshActivity === undefined) return () => undefined
  let isStopped = false
  let cancelTimer = (): void => undefined
  const again = (): void => {
    if (!isStopped) cancelTimer = clock.schedule(REFRESH_EVERY_MS, () => void refresh())
  }
  const refresh = async (): Promise<void> => {
    try {
      await handle.refreshActivity?.()
    } catch (error) {
      // A foreign handle may fail with anything, and nobody waits for this.
      if (!isHoldfastError(error)) process.emitWarning('A sandbox could not be kept awake.')
    }
    again()
  }
  again()
  return () => {
    isStopped = true
    cancelTimer()
  }
}
