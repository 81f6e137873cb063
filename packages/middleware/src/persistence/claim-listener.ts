import { createCapability } from '@tanstack/ai'
import type { RunSession } from '../runs/run-session.ts'

/** What `withPersistence` hears of a claim that `withSandbox` makes once the chat is set up already. */
export interface ClaimListener {
  /** The chat drives this run. From here on all that is stored of it is fenced. */
  claimed: (session: RunSession) => void
  /** The chat drives no run, and nothing of it may be stored: thread and record may be another run's. */
  refused: () => void
}

/** Token of the run that the chat has claimed, for who is set up after the claim. */
export const ClaimedSessionCapability = createCapability<RunSession>()('holdfast-claimed-session')

/** Token of the listener. */
export const ClaimListenerCapability = createCapability<ClaimListener>()('holdfast-claim-listener')
