import { systemClock } from '@holdfast/core'
import type { Clock, SandboxHandle } from '@holdfast/core'
import type { ChatMiddlewareContext, StreamChunk } from '@tanstack/ai'
import type { RunCheckpoints } from '../checkpoints/run/run-checkpoints.ts'
import type { EnsuredSandbox, SandboxEnsureContext } from '../definition/ensure-context.ts'
import type { SandboxDefinition } from '../definition/sandbox-definition.ts'
import type { ChunkRedactor } from '../secrets/chunk-redactor.ts'
import type { SecretRedactor } from '../secrets/secret-redactor.ts'
import { workspaceRedactor } from '../secrets/workspace-redactor.ts'
import type { Run } from '../runs/run.ts'
import type { RunOutcome } from '../runs/run-outcome.ts'
import { SandboxStatus } from './sandbox-status.ts'
import type { SessionFileEvents } from './session-file-events.ts'
import type { WithSandboxOptions } from './with-sandbox-options.ts'

/** What `withSandbox` holds for one run. `sandbox` appears once it is ready. */
export class SandboxSession {
  readonly ctx: ChatMiddlewareContext
  readonly definition: SandboxDefinition
  readonly options: WithSandboxOptions
  readonly clock: Clock
  readonly status: SandboxStatus
  /** Knows the workspace's secrets. */
  readonly redactor: SecretRedactor
  /** Absent when the run is not durable. */
  run: Run | undefined
  sandbox: EnsuredSandbox | undefined
  files: SessionFileEvents | undefined
  /** Lets an idle sandbox be stopped by its service again. */
  stopRefreshing: () => void = () => undefined
  /** Once their writer is held, when they are on. */
  checkpoints: RunCheckpoints | undefined
  /** Where the response shows the chat's own events, and not those that are stored without secrets. */
  chunkRedactor: ChunkRedactor | undefined
  #ending: Promise<void> | undefined

  constructor(input: {
    ctx: ChatMiddlewareContext
    definition: SandboxDefinition
    options: WithSandboxOptions
    clock?: Clock | undefined
  }) {
    const { ctx, definition, options, clock = systemClock } = input
    this.ctx = ctx
    this.definition = definition
    this.options = options
    this.run = options.run
    this.clock = options.run?.session.clock ?? clock
    this.status = new SandboxStatus(ctx)
    this.redactor = workspaceRedactor(definition.workspace)
  }

  /** Aborts when the run is asked to stop, for whatever reason. */
  get signal(): AbortSignal | undefined {
    return this.run?.session.controller.signal ?? this.ctx.signal
  }

  handle(): SandboxHandle {
    if (this.sandbox === undefined) throw new TypeError('The sandbox is not ready yet.')
    return this.sandbox.handle
  }

  ensureContext(): SandboxEnsureContext {
    const { threadId, runId, provider } = this.ctx
    const stores = this.run?.session.stores ?? this.options.stores
    const tenant = this.run?.session.tenant ?? this.options.tenant
    return {
      threadId,
      runId,
      adapterName: provider,
      clock: this.clock,
      onProgress: (progress) => this.status.show(progress),
      ...(stores === undefined ? {} : { store: stores.instances, locks: stores.locks }),
      ...(stores?.metadata === undefined ? {} : { metadata: stores.metadata }),
      ...(tenant === undefined ? {} : { tenant }),
      ...(this.signal === undefined ? {} : { signal: this.signal }),
    }
  }

  /** What viewers see of a chunk of the chat, nothing for one they have seen; undefined when it is the chunk itself. */
  async onChunk(chunk: StreamChunk): Promise<StreamChunk[] | null | undefined> {
    if ((await this.files?.onChunk(chunk)) === null) return null
    return this.chunkRedactor?.push(chunk)
  }

  /** Runs `end` once; every caller waits for the same run of it. */
  endOnce(outcome: RunOutcome, end: (session: SandboxSession, outcome: RunOutcome) => Promise<void>): Promise<void> {
    this.#ending ??= end(this, outcome)
    return this.#ending
  }
}
