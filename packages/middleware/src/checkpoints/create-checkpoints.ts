import { randomUUID } from 'node:crypto'
import {
  assertId,
  ConflictError,
  NotFoundError,
  summarizeCheckpoint,
  systemClock,
  UnsupportedError,
} from '@holdfast/core'
import type { CheckpointSummary, HoldfastStores, SandboxCheckpoint } from '@holdfast/core'
import { DEFAULT_WORKSPACE_ROOT } from '../definition/define-workspace.ts'
import type { SandboxEnsureContext } from '../definition/ensure-context.ts'
import { failingWithoutSecrets } from '../secrets/redacted-error.ts'
import { workspaceRedactor } from '../secrets/workspace-redactor.ts'
import { readArtifact } from './artifacts/read-artifact.ts'
import { saveArtifact } from './artifacts/save-artifact.ts'
import { CheckpointWriter } from './checkpoint-writer.ts'
import type { Checkpoints, CheckpointsOptions, ThreadInput } from './checkpoints.ts'
import { checkpointLimits } from './policy/checkpoint-limits.ts'
import { PathPolicy } from './policy/path-policy.ts'
import { restoreWorkspace } from './restore/restore-workspace.ts'
import { findCheckpointFailure } from './run/checkpoint-failures.ts'
import { newCheckpointId } from './run/checkpoint-id.ts'
import { findRunCheckpoints } from './run/live-run-checkpoints.ts'
import { saveCheckpoint } from './save-checkpoint.ts'
import type { CheckpointScope } from './save-checkpoint.ts'
import { compareCheckpoints } from './thread/compare-checkpoints.ts'
import { assertOwnThread, findCheckpoint } from './thread/find-checkpoint.ts'
import { forkThread } from './thread/fork-thread.ts'
import { holdThread } from './thread/hold-thread.ts'
import type { ThreadHold } from './thread/hold-thread.ts'
import { rewindThread } from './thread/rewind-thread.ts'
import { CheckpointWorkspace } from './workspace/checkpoint-workspace.ts'

const DEFAULT_GRACE_MS = 3_600_000

interface Service extends CheckpointsOptions {
  scope: CheckpointScope
}

/** Save, list, restore, fork, rewind, compare and prune checkpoints of the stores' threads. Makes nothing by itself. */
export function createCheckpoints(options: CheckpointsOptions): Checkpoints {
  const service: Service = { ...options, scope: scopeOf(options) }
  const { stores, scope } = service
  const own = (input: ThreadInput): Promise<void> => assertOwnThread(stores, input.threadId, input.tenant ?? {})
  const find = async (input: ThreadInput & { checkpointId?: string }): Promise<SandboxCheckpoint> => {
    await own(input)
    return findCheckpoint(stores, input.threadId, input.checkpointId)
  }
  return failingWithoutSecrets<Checkpoints>(scope.redactor, {
    get: find,
    save: (input) => own(input).then(() => save(service, input)),
    list: (input) => own(input).then(() => list(stores, input)),
    async restore({ into, root = DEFAULT_WORKSPACE_ROOT, ...input }) {
      const checkpoint = await find(input)
      const workspace = new CheckpointWorkspace({ handle: into, root })
      return restoreWorkspace({ workspace, checkpoint, blobs: stores.blobs, limits: scope.limits })
    },
    fork: (input) => find(input).then((source) => fork(service, source, input)),
    rewind: (input) => find(input).then((target) => rewind(service, target, input)),
    async diff({ from, to, ...input }) {
      const before = await find({ ...input, checkpointId: from })
      return compareCheckpoints(stores.blobs, before, await findCheckpoint(stores, input.threadId, to))
    },
    async findFailure({ runId, ...input }) {
      await own(input)
      const run = await stores.runs.get(runId)
      return run?.threadId === input.threadId ? findCheckpointFailure(stores.metadata, runId) : null
    },
    artifacts: {
      async save({ threadId, tenant, runId = threadId, ...input }) {
        await own({ threadId, ...(tenant === undefined ? {} : { tenant }) })
        const { onSecret } = scope.policy.stored
        return saveArtifact({
          ...input,
          stores,
          redactor: scope.redactor,
          onSecret,
          threadId,
          runId,
          now: scope.clock.now(),
        })
      },
      list: (input) => own(input).then(() => stores.artifacts.listForThread(input.threadId)),
    },
    async readArtifact({ artifactId, ...input }) {
      const { threadId } = input
      if (input.checkpointId === undefined) {
        await own(input)
        return readArtifact(stores, { threadId, artifactId })
      }
      return readArtifact(stores, { threadId, artifactId, checkpoint: await find(input) })
    },
    async prune({ graceMs = DEFAULT_GRACE_MS, dryRun = false, ...checkpoints }) {
      if (stores.maintenance === undefined) {
        throw new UnsupportedError('CAPABILITY_UNSUPPORTED', `The ${stores.backend} stores have no maintenance.`)
      }
      return stores.maintenance.prune({ checkpoints, blobs: { graceMs }, dryRun })
    },
  })
}

function scopeOf({ stores, sandbox, policy, limits, clock = systemClock }: CheckpointsOptions): CheckpointScope {
  return {
    stores,
    clock,
    policy: new PathPolicy(policy),
    limits: checkpointLimits(limits),
    redactor: workspaceRedactor(sandbox.workspace),
  }
}

async function list(
  { checkpoints }: HoldfastStores,
  { threadId, limit, cursor }: ThreadInput & { limit?: number; cursor?: string },
): ReturnType<Checkpoints['list']> {
  const page = {
    threadId,
    ...(limit === undefined ? {} : { limit }),
    ...(cursor === undefined ? {} : { cursor }),
  }
  const headId = await checkpoints.getHead(threadId)
  if (checkpoints.listSummaries !== undefined) return { headId, ...(await checkpoints.listSummaries(page)) }
  const all = await checkpoints.list(threadId)
  return { headId, checkpoints: all.toReversed().slice(0, limit).map(summarizeCheckpoint) }
}

async function save(service: Service, input: ThreadInput & { label?: string }): Promise<CheckpointSummary> {
  const { stores, sandbox, scope } = service
  const { threadId, label } = input
  if (sandbox.lifecycle.reuse === 'none') {
    throw new ConflictError('SANDBOX_SNAPSHOT_REUSE_NONE', 'A sandbox that is never reused cannot be saved by name.')
  }
  const live = findRunCheckpoints(stores.checkpoints, threadId)
  const request = { reason: 'named' as const, ...(label === undefined ? {} : { label }) }
  if (live !== undefined) return summarizeCheckpoint((await live.save(request)).checkpoint)
  return hold(service, input, 'save', async (held) => {
    const handle = await sandbox.ensureExisting(contextOf(service, input, held))
    if (handle === null) {
      const message = `Thread ${threadId} has no sandbox that could be saved.`
      throw new NotFoundError('SANDBOX_SNAPSHOT_MISSING_REUSABLE_SANDBOX', message, { details: { threadId } })
    }
    const workspace = new CheckpointWorkspace({ handle, root: rootOf(service), signal: held.signal })
    const writer = await CheckpointWriter.open({ stores, threadId, clock: scope.clock, fence: held.fence })
    try {
      const saved = await saveCheckpoint({ scope, writer, workspace, checkpointId: newCheckpointId(), ...request })
      return summarizeCheckpoint(saved.checkpoint)
    } finally {
      await writer.close()
    }
  })
}

async function fork(
  { stores, scope }: Service,
  source: SandboxCheckpoint,
  input: ThreadInput & { destinationThreadId?: string; title?: string },
): ReturnType<Checkpoints['fork']> {
  const threadId = assertId('destinationThreadId', input.destinationThreadId ?? `thread-${randomUUID()}`)
  const { tenant = {}, title } = input
  const root = await forkThread({ stores, scope, source, destinationThreadId: threadId, tenant, title })
  return { threadId, checkpoint: summarizeCheckpoint(root) }
}

function rewind(
  service: Service,
  target: SandboxCheckpoint,
  input: ThreadInput & { processes?: 'stop' | 'keep' },
): ReturnType<Checkpoints['rewind']> {
  const { stores, scope, sandbox: definition } = service
  return hold(service, input, 'rewind', async (held) => {
    const { processes = 'stop' } = input
    const context = contextOf(service, input, held)
    const rewound = await rewindThread({ stores, scope, definition, context, hold: held, target, processes })
    return { ...rewound, checkpoint: summarizeCheckpoint(rewound.checkpoint) }
  })
}

function hold<T>(
  { stores, scope }: Service,
  { threadId, tenant = {} }: ThreadInput,
  purpose: 'save' | 'rewind',
  work: (held: ThreadHold) => Promise<T>,
): Promise<T> {
  const { clock, redactor } = scope
  return holdThread({ stores, threadId, tenant, clock, redactor, purpose }, work)
}

/** The thread's own sandbox, outside of any run. */
function contextOf(
  { stores, scope }: Service,
  { threadId, tenant = {} }: ThreadInput,
  held: ThreadHold,
): SandboxEnsureContext {
  const { instances: store, locks } = stores
  return { threadId, runId: held.fence.runId, tenant, store, locks, clock: scope.clock, signal: held.signal }
}

function rootOf({ sandbox }: Service): string {
  return sandbox.workspace.root ?? DEFAULT_WORKSPACE_ROOT
}
