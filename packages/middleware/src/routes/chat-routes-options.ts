import type { Clock, HoldfastStores } from '@holdfast/core'
import type { AnyTextAdapter, AnyTool } from '@tanstack/ai'
import type { RunCheckpointOptions } from '../checkpoints/run/run-checkpoint-options.ts'
import type { SandboxDefinition } from '../definition/sandbox-definition.ts'
import type { WhenBusy } from '../runs/begin-run-input.ts'
import type { Tenant } from '../runs/tenant.ts'

/** What a request wants to do. */
export type ChatAction = 'send' | 'read' | 'cancel' | 'delete' | 'list' | 'health' | 'reap' | 'operate'

/** What a request wants, for `authorize`. */
export interface AuthorizeInput {
  action: ChatAction
  /** Absent for lists, health, `reap` and `operate`. */
  threadId?: string
}

/** The run that a model is chosen for. */
export interface ModelInput {
  /** Absent when a host continues a run after another one died. */
  request?: Request
  threadId: string
  runId: string
  forwardedProps: Record<string, unknown>
}

/** Who makes a request. */
export interface Caller extends Tenant {
  /** May see and reap the runs of all tenants. A request with the secret of a schedule is one, for example. */
  isOperator?: boolean
}

/** What a run may cost when nobody looks after it. Seen to by each reap. */
export interface RunLimits {
  /** A run that nobody has watched for this long is ended. Default one hour. */
  maxDetachedMs?: number
  /** A run older than this is ended, watched or not. No limit when left out. */
  maxRunMs?: number
}

/** The app behind the routes. */
export interface ChatRoutesOptions {
  stores: HoldfastStores
  sandbox: SandboxDefinition
  /** Which model answers. May look at the request. */
  model: (input: ModelInput) => AnyTextAdapter | Promise<AnyTextAdapter>
  /** Default: none. Usually `sandboxTools()`. */
  tools?: readonly AnyTool[]
  systemPrompts?: readonly string[]
  /** Most turns of the model in one run; a turn may call tools. Default 100. */
  maxTurns?: number
  /**
   * Says on whose behalf a request acts, or null to refuse it. Ids in a request prove nothing: a thread of another tenant
   * answers 404. Default: one user, everything allowed.
   */
  authorize?: (request: Request, input: AuthorizeInput) => Caller | null | Promise<Caller | null>
  limits?: RunLimits
  /** Saves each run's workspace, conversation and artifacts, and adds the routes for them. Default: off. */
  checkpoints?: RunCheckpointOptions
  /** Where the routes live. Default `/api`. */
  basePath?: string
  /** False: a viewer who leaves ends the run. Default true. */
  detachOnDisconnect?: boolean
  /** What happens to a send while another run holds its thread. Default `reject`. */
  whenBusy?: WhenBusy
  /** False: a run whose host died is ended as failed instead of being continued. Default true. */
  takeOver?: boolean
  /** For health pages: the name of the model in use. */
  modelName?: string
  clock?: Clock
}
