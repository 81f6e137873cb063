import type { RunOutcome } from '../runs/run-outcome.ts'
import { AGENT_END } from '../runs/run-session.ts'
import { destroySandboxOf } from './destroy-sandbox-of.ts'
import { reportSandboxFailure } from './report-sandbox-failure.ts'
import type { SandboxSession } from './sandbox-session.ts'
import { stillDrives } from './still-drives.ts'
import { takeRunSnapshot } from './take-run-snapshot.ts'

/**
 * What happens to the sandbox when this host's work ends. The watcher goes first and can never prevent the rest. A run that
 * was lost, detached or paused leaves its sandbox to whoever continues.
 */
export async function endSandbox(session: SandboxSession, outcome: RunOutcome): Promise<void> {
  session.stopRefreshing()
  await stopFiles(session, outcome)
  if (outcome.status === 'failed') await callOnError(session, outcome.error)
  const hasEnded = await endAgent(session, outcome)
  const willDestroy = !hasEnded || mustDestroy(session, outcome)
  await session.checkpoints?.end(outcome, willDestroy)
  if (outcome.status === 'lost' || outcome.status === 'detached' || outcome.status === 'interrupted') return
  if (!willDestroy) {
    await takeRunSnapshot(session, outcome)
    await park(session)
  } else if (await stillDrives(session)) await destroySandboxOf(session)
}

/** False when the agent of a cancelled run may still be at work: then its sandbox cannot be kept. */
async function endAgent(session: SandboxSession, outcome: RunOutcome): Promise<boolean> {
  try {
    await session.run?.session.runEndHandler(AGENT_END, outcome)
    return true
  } catch (error) {
    reportSandboxFailure('The command-line agent could not be ended', error, session.redactor)
    return outcome.status !== 'aborted'
  }
}

function mustDestroy(session: SandboxSession, outcome: RunOutcome): boolean {
  const { lifecycle } = session.definition
  if (lifecycle.destroyOnComplete || lifecycle.reuse === 'none') return true
  if (outcome.status !== 'aborted') return false
  const { killableProcesses } = session.definition.provider.capabilities()
  return !(outcome.keepSandbox && killableProcesses)
}

async function stopFiles(session: SandboxSession, outcome: RunOutcome): Promise<void> {
  try {
    if (outcome.status === 'completed') await session.files?.drain()
    await session.files?.stop()
  } catch (error) {
    reportSandboxFailure('The file watcher could not be stopped', error, session.redactor)
  }
}

async function callOnError(session: SandboxSession, failure: unknown): Promise<void> {
  try {
    await session.definition.hooks.onError?.(failure)
  } catch (error) {
    reportSandboxFailure('The onError hook failed', error, session.redactor)
  }
}

/** Stops paying for compute where the definition says so; a sandbox that would not park is stopped by its service later. */
async function park(session: SandboxSession): Promise<void> {
  const { lifecycle, provider } = session.definition
  const sandboxId = session.sandbox?.record.providerSandboxId
  if (lifecycle.keepAlive || provider.park === undefined || sandboxId === undefined) return
  try {
    await provider.park({ id: sandboxId, mode: 'stop' })
  } catch (error) {
    reportSandboxFailure(`Sandbox ${sandboxId} could not be parked`, error, session.redactor)
  }
}
