export { commandAgent } from './agent/command-agent.ts'
export type { CommandAgentOptions } from './agent/command-agent.ts'
export { AgentChunks } from './agent/agent-chunks.ts'
export { findJournal, JOURNAL_NAMESPACE } from './agent/agent-journal.ts'
export type { JournalRecord } from './agent/agent-journal.ts'
export type { AgentFormat, AgentParser, AgentUsage, ParseAgent } from './agent/agent-parser.ts'
export { alignReplay } from './agent/align-replay.ts'
export { isJournaled } from './agent/journaled-adapter.ts'
export { pruneJournals } from './agent/prune-journals.ts'
export type { PruneJournalsInput } from './agent/prune-journals.ts'

export { createSecrets } from './secrets/create-secrets.ts'
export { defineSandbox } from './definition/define-sandbox.ts'
export { defineWorkspace } from './definition/define-workspace.ts'
export type { WorkspaceOptions } from './definition/define-workspace.ts'
export { gitSource, githubRepo, localSource } from './definition/workspace-source.ts'
export type {
  EnsuredSandbox,
  SandboxEnsureContext,
  SandboxOrigin,
  SandboxPhase,
  SandboxProgress,
} from './definition/ensure-context.ts'
export type {
  SandboxDefinition,
  SandboxDefinitionConfig,
  SandboxDefinitionOptions,
} from './definition/sandbox-definition.ts'
export type { SandboxFileHooks, SandboxHooks } from './definition/sandbox-hooks.ts'
export type { SandboxLifecycleOptions } from './definition/sandbox-lifecycle.ts'

export { attachRun } from './runs/attach-run.ts'
export type { AttachRunInput } from './runs/attach-run.ts'
export { beginRun } from './runs/begin-run.ts'
export type { BeginRunInput, WhenBusy } from './runs/begin-run-input.ts'
export { adoptRun } from './runs/adopt-run.ts'
export type { AdoptRunInput } from './runs/adopt-run.ts'
export { cancelRun } from './runs/cancel-run.ts'
export type { CancelRunInput } from './runs/cancel-run.ts'
export { durableLog } from './runs/durable-log.ts'
export type { DurableLog, DurableLogInput } from './runs/durable-log.ts'
export { settleOrphan } from './runs/settle-orphan.ts'
export type { SettleOrphanInput, SettleResult } from './runs/settle-orphan.ts'
export type { RunDriver } from './runs/run-driver.ts'
export { takeOverRun } from './runs/take-over-run.ts'
export type { TakeOverInput, TakeOverResult } from './runs/take-over-run.ts'
export { IDEMPOTENT } from './persistence/resume-point.ts'
export { reapRuns } from './reap/reap-runs.ts'
export type { ReapRunsInput } from './reap/reap-options.ts'
export type { ReapOutcome, ReapReport } from './reap/reap-outcome.ts'
export type { JournalOutcome } from './reap/journal-outcome.ts'
export type { ReclaimOutcome } from './reap/reclaim-outcome.ts'
export { startReaper } from './reap/start-reaper.ts'
export type { Reaper, StartReaperInput } from './reap/start-reaper.ts'
export { sweepSandboxes } from './reap/sweep-sandboxes.ts'
export type { SweepSandboxesInput } from './reap/sweep-target.ts'
export type { SweepOutcome, SweepReason, SweepReport } from './reap/sweep-outcome.ts'
export { defineOperatorConfig } from './operator/operator-config.ts'
export type { OperatorConfig, OperatorConfigModule } from './operator/operator-config.ts'
export { describeRun, describeRuns } from './operator/describe-runs.ts'
export type { DescribeRunsInput, RunDescription } from './operator/describe-runs.ts'
export { stopRuns } from './runs/stop-runs.ts'
export { MAX_BODY_BYTES, readChatRequest } from './runs/request-body.ts'
export type { ChatRequest } from './runs/request-body.ts'
export type { Run, RunChatOptions } from './runs/run.ts'
export type { EventStreamOptions } from './runs/event-stream-response.ts'
export { HOST_LOST_CODE, RUN_CANCELLED_CODE } from './runs/terminal-chunk.ts'
export { ownerIdOf } from './runs/tenant.ts'
export type { Tenant } from './runs/tenant.ts'

export { hydrateThread } from './persistence/hydrate-thread.ts'
export type { ThreadHydration } from './persistence/hydrate-thread.ts'
export {
  CompletionCapability,
  InterruptsCapability,
  PersistenceCapability,
} from './persistence/persistence-capabilities.ts'
export type { RunCompletion } from './persistence/persistence-capabilities.ts'
export { withPersistence } from './persistence/with-persistence.ts'

export {
  getSandbox,
  SandboxCapability,
  SandboxInstancesCapability,
  SandboxPolicyCapability,
} from './session/sandbox-capabilities.ts'
export type { SandboxToken } from './session/sandbox-capabilities.ts'
export type { SandboxDurabilityOptions } from './session/sandbox-durability.ts'
export { SANDBOX_STATUS_EVENT } from './session/sandbox-status.ts'
export { withSandbox } from './session/with-sandbox.ts'
export type { WithSandboxOptions } from './session/with-sandbox-options.ts'

export { sandboxTools } from './tools/sandbox-tools.ts'
export { sandboxApproval } from './tools/sandbox-approval.ts'
export { defineSandboxPolicy } from './policy/define-sandbox-policy.ts'
export { bearer } from './secrets/bearer-secret.ts'

export { createChatDriver } from './routes/chat-driver.ts'
export { createChatRoutes } from './routes/create-chat-routes.ts'
export type { ChatRoutes } from './routes/create-chat-routes.ts'
export type {
  AuthorizeInput,
  ChatAction,
  Caller,
  ChatRoutesOptions,
  ModelInput,
  RunLimits,
} from './routes/chat-routes-options.ts'

export { createCheckpoints } from './checkpoints/create-checkpoints.ts'
export type { Checkpoints, CheckpointsOptions, ThreadInput } from './checkpoints/checkpoints.ts'
export type { CheckpointStores } from './checkpoints/checkpoint-stores.ts'
export type { CheckpointLimits } from './checkpoints/policy/checkpoint-limits.ts'
export { DEFAULT_EXCLUDE } from './checkpoints/policy/path-policy.ts'
export type { RestoredWorkspace } from './checkpoints/restore/restore-workspace.ts'
export type { CheckpointFailure } from './checkpoints/run/checkpoint-failures.ts'
export type { CheckpointTrigger } from './checkpoints/run/checkpoint-triggers.ts'
export { CHECKPOINT_FAILED_EVENT, CHECKPOINT_SAVED_EVENT } from './checkpoints/run/run-checkpoints.ts'
export type { RunCheckpointOptions } from './checkpoints/run/run-checkpoint-options.ts'
export type { CheckpointDiff, CheckpointFileChange } from './checkpoints/thread/compare-checkpoints.ts'
export type { ReadableArtifact } from './checkpoints/artifacts/read-artifact.ts'
