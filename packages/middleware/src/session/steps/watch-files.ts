import type { Step } from '../../definition/run-steps.ts'
import { startSessionFileEvents } from '../session-file-events.ts'
import type { SandboxSession } from '../sandbox-session.ts'

/** Starts telling viewers and hooks which files change. */
export const watchFiles: Step<SandboxSession> = {
  name: 'watch-files',
  async run(session) {
    if (session.definition.fileEvents === false) return undefined
    session.files = await startSessionFileEvents(session, session.definition.fileEvents)
    return () => session.files?.stop()
  },
}
