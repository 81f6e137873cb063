import type { Step } from '../../definition/run-steps.ts'
import { reportSandboxFailure } from '../report-sandbox-failure.ts'
import type { SandboxSession } from '../sandbox-session.ts'

/** Less than the shortest time after which a service stops an idle sandbox, which is a minute. */
export const REFRESH_EVERY_MS = 45_000

/**
 * Tells the service that the sandbox is in use for as long as a run holds it, and not a moment longer: a quiet agent must
 * not be stopped in the middle of its work, and an idle sandbox must not be kept awake.
 */
export const keepActive: Step<SandboxSession> = {
  name: 'keep-active',
  run(session) {
    const handle = session.handle()
    if (handle.refreshActivity === undefined) return undefined
    let cancel = (): void => undefined
    const schedule = (): void => {
      cancel = session.clock.schedule(REFRESH_EVERY_MS, () => {
        schedule()
        handle.refreshActivity?.().catch((error: unknown) => {
          reportSandboxFailure('The sandbox could not be told that it is in use', error, session.redactor)
        })
      })
    }
    schedule()
    session.stopRefreshing = () => cancel()
    return session.stopRefreshing
  },
}
