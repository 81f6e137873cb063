import type { Step } from '../../definition/run-steps.ts'
import type { SandboxSession } from '../sandbox-session.ts'

/** An app's `onReady` is part of the set-up: when it throws, the run fails. */
export const announceReady: Step<SandboxSession> = {
  name: 'announce-ready',
  run: (session) => session.definition.hooks.onReady?.(session.handle()),
}
