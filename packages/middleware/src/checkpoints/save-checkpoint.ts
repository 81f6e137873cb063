import { encodeExactJson, isHoldfastError, NotFoundError } from '@holdfast/core'
import type { CheckpointArtifact, CheckpointReason, Clock, SandboxCheckpoint } from '@holdfast/core'
import type { ModelMessage } from '@tanstack/ai'
import type { SecretRedactor } from '../secrets/secret-redactor.ts'
import { checkpointArtifacts } from './artifacts/checkpoint-artifacts.ts'
import { captureWorkspace } from './capture/capture-workspace.ts'
import { entryFingerprint } from './capture/count-changed.ts'
import { loadStamps, saveStamps } from './capture/stat-cache.ts'
import type { FileStamps } from './capture/stat-cache.ts'
import type { CheckpointStores } from './checkpoint-stores.ts'
import type { CheckpointWriter } from './checkpoint-writer.ts'
import type { CheckpointLimits } from './policy/checkpoint-limits.ts'
import type { PathPolicy } from './policy/path-policy.ts'
import type { CheckpointWorkspace } from './workspace/checkpoint-workspace.ts'

/** How checkpoints of one definition are made. */
export interface CheckpointScope {
  readonly stores: CheckpointStores
  readonly policy: PathPolicy
  readonly limits: CheckpointLimits
  readonly redactor: SecretRedactor
  readonly clock: Clock
}

export interface SaveInput {
  scope: CheckpointScope
  writer: CheckpointWriter
  workspace: CheckpointWorkspace
  checkpointId: string
  reason: CheckpointReason
  label?: string | undefined
  sourceRunId?: string | undefined
  /** Rejects when this host may not publish any more. Asked last. */
  assertDriver?: (() => Promise<void>) | undefined
  /** Stores nothing when nothing changed since the head. */
  onlyChanges?: boolean
}

export interface SavedCheckpoint {
  readonly checkpoint: SandboxCheckpoint
  /** False when the head says the same already. */
  readonly isNew: boolean
}

/**
 * Captures workspace, conversation and artifacts as the new head. Repeatable with the same id: what is stored already is
 * answered. A crash at any point leaves the old head or the new one.
 */
export async function saveCheckpoint(input: SaveInput): Promise<SavedCheckpoint> {
  const { scope, writer, workspace } = input
  const { stores, redactor, clock } = scope
  const { threadId } = writer.lease
  const parent = await findHead(stores, threadId)
  const place = { sandboxId: workspace.handle.id, root: workspace.root }
  const captured = await captureWorkspace({
    ...scope,
    workspace,
    blobs: stores.blobs,
    parent: parent?.files ?? [],
    stamps: parent === null ? new Map() : await loadStamps(stores.metadata, parent, place),
    sentinel: { checkpoint: input.checkpointId, parent: parent?.id ?? null },
  })
  const conversation = await loadConversation(stores, threadId, redactor, captured.report)
  const checkpoint: SandboxCheckpoint = {
    id: input.checkpointId,
    threadId,
    parentCheckpointId: parent?.id ?? null,
    createdAt: Math.max(clock.now(), (parent?.createdAt ?? 0) + 1),
    reason: input.reason,
    ...(input.label === undefined ? {} : { label: redactor.text(input.label) }),
    ...(input.sourceRunId === undefined ? {} : { sourceRunId: input.sourceRunId }),
    files: captured.files,
    conversation,
    artifacts: checkpointArtifacts(await stores.artifacts.listForThread(threadId)),
    policy: scope.policy.stored,
    report: captured.report,
    sizes: captured.sizes,
  }
  if (input.onlyChanges === true && parent !== null && saysTheSame(parent, checkpoint)) {
    await keepStamps(scope, parent, place, captured.stamps)
    return { checkpoint: parent, isNew: false }
  }
  const stored = await publish(input, checkpoint)
  if (stored === checkpoint) await keepStamps(scope, checkpoint, place, captured.stamps)
  return { checkpoint: stored, isNew: true }
}

/** `SANDBOX_SNAPSHOT_MISSING_CHECKPOINT` when the head points at nothing. Null when the thread has no checkpoint. */
export async function findHead(
  { checkpoints }: Pick<CheckpointStores, 'checkpoints'>,
  threadId: string,
): Promise<SandboxCheckpoint | null> {
  const headId = await checkpoints.getHead(threadId)
  if (headId === null) return null
  const head = await checkpoints.get(headId)
  if (head !== null) return head
  const message = `The head of thread ${threadId} points at checkpoint ${headId}, which is gone.`
  throw new NotFoundError('SANDBOX_SNAPSHOT_MISSING_CHECKPOINT', message, {
    details: { threadId, checkpointId: headId },
  })
}

async function loadConversation(
  { messages }: CheckpointStores,
  threadId: string,
  redactor: SecretRedactor,
  report: NonNullable<SandboxCheckpoint['report']>,
): Promise<ModelMessage[]> {
  const stored = await messages.loadThread(threadId)
  const clean = redactor.json(stored)
  if (clean !== stored && encodeExactJson(clean) !== encodeExactJson(stored)) {
    report.push({ path: '.', what: 'redacted', reason: 'the conversation held a registered secret' })
  }
  return clean
}

async function publish(input: SaveInput, checkpoint: SandboxCheckpoint): Promise<SandboxCheckpoint> {
  const { writer, scope } = input
  writer.assertHeld()
  await input.assertDriver?.()
  writer.assertHeld()
  const { checkpoints } = scope.stores
  try {
    const expectedHeadId = checkpoint.parentCheckpointId
    await checkpoints.append({ checkpoint, expectedHeadId, writer: writer.lease })
    return checkpoint
  } catch (error) {
    if (!isHoldfastError(error, 'SANDBOX_SNAPSHOT_DUPLICATE_ID')) throw error
    const existing = await checkpoints.get(checkpoint.id)
    const isOurs = existing?.threadId === checkpoint.threadId && existing.sourceRunId === checkpoint.sourceRunId
    if (existing === null || !isOurs) throw error
    return existing
  }
}

/** Only makes the next save cheaper, so it may fail. */
async function keepStamps(
  { stores, redactor }: CheckpointScope,
  checkpoint: SandboxCheckpoint,
  place: { sandboxId: string; root: string },
  stamps: FileStamps,
): Promise<void> {
  try {
    await saveStamps(stores.metadata, checkpoint, place, stamps)
  } catch (error) {
    process.emitWarning('What a checkpoint saw of its files could not be noted; the next one reads more.', {
      code: 'HOLDFAST_CHECKPOINT',
      detail: redactor.text(error instanceof Error ? error.message : String(error)),
    })
  }
}

function saysTheSame(before: SandboxCheckpoint, after: SandboxCheckpoint): boolean {
  const content = ({ files, conversation, artifacts }: SandboxCheckpoint): string =>
    encodeExactJson([
      files.map((entry) => [entry.path, entryFingerprint(entry)]),
      conversation,
      artifacts.map(artifactKey),
    ])
  return content(before) === content(after)
}

function artifactKey({ artifactId, blobKey, name }: CheckpointArtifact): unknown[] {
  return [artifactId, blobKey, name]
}
