import { InvalidInputError } from '@holdfast/core'
import { EventType } from '@tanstack/ai'
import type { CheckpointStores } from '../checkpoints/checkpoint-stores.ts'
import { checkpointLimits } from '../checkpoints/policy/checkpoint-limits.ts'
import { PathPolicy } from '../checkpoints/policy/path-policy.ts'
import type { RunCheckpointOptions } from '../checkpoints/run/run-checkpoint-options.ts'
import { CheckpointTriggers } from '../checkpoints/run/checkpoint-triggers.ts'
import type { RunCheckpointsInput } from '../checkpoints/run/run-checkpoints.ts'
import { DEFAULT_WORKSPACE_ROOT } from '../definition/define-workspace.ts'
import { PersistenceCapability } from '../persistence/persistence-capabilities.ts'
import { DRIVER_LEASE_MS } from '../runs/heartbeat.ts'
import type { SandboxSession } from './sandbox-session.ts'

/**
 * What a run's checkpoints work with. `SANDBOX_SNAPSHOT_MISSING_PERSISTENCE_STORES` without stores,
 * `INVALID_CONFIGURATION` when the transcript is kept nowhere, or elsewhere.
 */
export function runCheckpointsInput(session: SandboxSession, options: RunCheckpointOptions): RunCheckpointsInput {
  const { ctx, definition, clock, redactor, run } = session
  const stores = storesOf(session, options)
  const fence = run?.session.fence
  const drivers = run?.session.stores.drivers
  return {
    scope: {
      stores,
      policy: new PathPolicy(options.policy),
      limits: checkpointLimits(options.limits),
      redactor,
      clock,
    },
    triggers: new CheckpointTriggers(options.on),
    threadId: ctx.threadId,
    runId: ctx.runId,
    root: definition.workspace.root ?? DEFAULT_WORKSPACE_ROOT,
    emit(name, value, { atEnd }) {
      if (!atEnd) ctx.emitCustomEvent(name, value)
      else run?.session.lastEvents.push({ type: EventType.CUSTOM, name, value, timestamp: clock.now() })
    },
    ...(fence === undefined || drivers === undefined
      ? {}
      : {
          fence,
          assertDriver: async () => void (await drivers.renew({ ...fence, ttlMs: DRIVER_LEASE_MS })),
        }),
  }
}

function storesOf({ ctx, run }: SandboxSession, options: RunCheckpointOptions): CheckpointStores {
  const own = run?.session.stores
  const checkpoints = options.store ?? own?.checkpoints
  const blobs = options.blobs ?? own?.blobs
  const artifacts = options.artifacts ?? own?.artifacts
  const messages = options.messages ?? own?.messages
  const metadata = options.metadata ?? own?.metadata
  if (!checkpoints || !blobs || !artifacts || !messages || !metadata) {
    const message =
      'Checkpoints need a checkpoint, blob, artifact, message and metadata store; give `run` or all of them.'
    throw new InvalidInputError('SANDBOX_SNAPSHOT_MISSING_PERSISTENCE_STORES', message)
  }
  const persistence = PersistenceCapability[0](ctx, { optional: true })
  if (persistence === undefined) throw invalid('Checkpoints need withPersistence, before withSandbox.')
  if (persistence.messages !== messages) {
    throw invalid('Checkpoints need the stores that withPersistence was given: its transcript is kept elsewhere.')
  }
  return { checkpoints, blobs, artifacts, messages, metadata }
}

function invalid(message: string): InvalidInputError {
  return new InvalidInputError('INVALID_CONFIGURATION', message)
}
