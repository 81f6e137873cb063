import { InvalidInputError, UnsupportedError } from '@holdfast/core'
import type { HoldfastStores, SandboxCheckpoint, SandboxHandle } from '@holdfast/core'
import { DEFAULT_WORKSPACE_ROOT } from '../../definition/define-workspace.ts'
import type { SandboxEnsureContext } from '../../definition/ensure-context.ts'
import type { SandboxDefinition } from '../../definition/sandbox-definition.ts'
import { DRIVER_LEASE_MS } from '../../runs/heartbeat.ts'
import { countChanged } from '../capture/count-changed.ts'
import { CheckpointWriter } from '../checkpoint-writer.ts'
import { CheckpointBlobs } from '../restore/checkpoint-blobs.ts'
import { restoreWorkspace } from '../restore/restore-workspace.ts'
import { newCheckpointId } from '../run/checkpoint-id.ts'
import { findHead, saveCheckpoint } from '../save-checkpoint.ts'
import type { CheckpointScope } from '../save-checkpoint.ts'
import { writeSentinel } from '../sentinel.ts'
import { CheckpointWorkspace } from '../workspace/checkpoint-workspace.ts'
import { noteNewHead } from './follow-head.ts'
import type { ThreadHold } from './hold-thread.ts'

export interface RewindInput {
  stores: HoldfastStores
  scope: CheckpointScope
  definition: SandboxDefinition
  /** For the thread's own sandbox. */
  context: SandboxEnsureContext
  hold: ThreadHold
  target: SandboxCheckpoint
  /** `stop` (default) ends what runs in the sandbox; `keep` lets it run on, at the caller's risk. */
  processes: 'stop' | 'keep'
}

export interface Rewound {
  readonly checkpoint: SandboxCheckpoint
  /** False when the thread has no sandbox: the next run gets one with these files. */
  readonly isSandboxRestored: boolean
}

/**
 * Brings a thread back to an earlier checkpoint, as a new head: its live sandbox, its conversation, its artifacts. What the
 * sandbox holds beyond the head is saved first, so that nothing is lost. A crash before the new head leaves the old state,
 * and a sandbox that the next run brings back to it; after it, whoever settles the thread completes the rest.
 */
export async function rewindThread(input: RewindInput): Promise<Rewound> {
  const { stores, scope, hold, target } = input
  const { threadId } = target
  const writer = await CheckpointWriter.open({ stores, threadId, clock: scope.clock, fence: hold.fence })
  try {
    const handle = await input.definition.ensureExisting(input.context)
    const quiet = handle === null ? null : await stopProcesses(input, handle)
    const workspace = quiet === null ? null : workspaceOf(input, quiet)
    if (workspace !== null) await saveFirst(input, writer, workspace)
    await restoreTarget(input, workspace)
    const checkpoint = await rewoundCheckpoint(input)
    await noteNewHead(stores, threadId, checkpoint.id)
    writer.assertHeld()
    await stores.drivers.renew({ ...hold.fence, ttlMs: DRIVER_LEASE_MS })
    const expectedHeadId = checkpoint.parentCheckpointId
    await stores.checkpoints.append({ checkpoint, expectedHeadId, writer: writer.lease })
    if (workspace !== null) await writeSentinel(workspace, { checkpoint: checkpoint.id, parent: null })
    return { checkpoint, isSandboxRestored: workspace !== null }
  } finally {
    await writer.close()
  }
}

/** A stopped and started sandbox has its disk and none of its processes. */
async function stopProcesses(input: RewindInput, handle: SandboxHandle): Promise<SandboxHandle | null> {
  const { definition, context, processes } = input
  if (processes === 'keep') return handle
  const { provider } = definition
  if (provider.park === undefined) {
    const message = `Provider ${provider.name} cannot stop what runs in a sandbox. Destroy the sandbox, or rewind with processes: 'keep'.`
    throw new UnsupportedError('CAPABILITY_UNSUPPORTED', message)
  }
  await provider.park({ id: handle.id, mode: 'stop' })
  return definition.ensureExisting(context)
}

async function saveFirst(input: RewindInput, writer: CheckpointWriter, workspace: CheckpointWorkspace): Promise<void> {
  await saveCheckpoint({
    scope: input.scope,
    writer,
    workspace,
    checkpointId: newCheckpointId(),
    reason: 'automatic',
    label: 'before a rewind',
    onlyChanges: true,
  })
}

async function restoreTarget({ scope, target }: RewindInput, workspace: CheckpointWorkspace | null): Promise<void> {
  const { blobs } = scope.stores
  if (workspace !== null) await restoreWorkspace({ workspace, checkpoint: target, blobs, limits: scope.limits })
  else await new CheckpointBlobs(blobs).assertStored(target.files.filter((entry) => entry.kind === 'file'))
}

async function rewoundCheckpoint({ stores, scope, target }: RewindInput): Promise<SandboxCheckpoint> {
  const head = await findHead(stores, target.threadId)
  if (head === null) throw new InvalidInputError('INVALID_ARGUMENT', 'A thread without checkpoints cannot be rewound.')
  const { sourceRunId: _run, ...content } = target
  const changedFiles = countChanged(head.files, target.files)
  return {
    ...content,
    id: newCheckpointId(),
    parentCheckpointId: head.id,
    createdAt: Math.max(scope.clock.now(), head.createdAt + 1),
    reason: 'rewind',
    ...(target.sizes === undefined ? {} : { sizes: { ...target.sizes, addedBytes: 0, changedFiles } }),
  }
}

function workspaceOf({ definition, hold }: RewindInput, handle: SandboxHandle): CheckpointWorkspace {
  const root = definition.workspace.root ?? DEFAULT_WORKSPACE_ROOT
  return new CheckpointWorkspace({ handle, root, signal: hold.signal })
}
