import { retryStore } from '../runs/retry-store.ts'
import type { SandboxSession } from './sandbox-session.ts'

/**
 * Destroys the run's sandbox under the definition's own time limit; the run's signal has aborted by then. A store that is
 * away for a moment leaves no sandbox behind.
 */
export function destroySandboxOf(session: SandboxSession): Promise<void> {
  const { signal: _aborted, ...context } = session.ensureContext()
  return retryStore(session.clock, () => session.definition.destroy(context))
}
