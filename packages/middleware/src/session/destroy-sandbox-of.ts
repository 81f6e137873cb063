import type { SandboxSession } from './sandbox-session.ts'

/** Destroys the run's sandbox under the definition's own time limit; the run's signal has aborted by then. */
export function destroySandboxOf(session: SandboxSession): Promise<void> {
  const { signal: _aborted, ...context } = session.ensureContext()
  return session.definition.destroy(context)
}
