import { assertId, NotFoundError, RefusedError } from '@holdfast/core'
import type { RunRecord, ThreadRecord } from '@holdfast/core'
import { ownerIdOf } from '../runs/tenant.ts'
import type { Tenant } from '../runs/tenant.ts'
import type { ChatAction, ChatRoutesOptions } from './chat-routes-options.ts'

/** Answers who may do what. A thread that is not the tenant's looks like one that does not exist. */
export class ChatAccess {
  readonly #options: ChatRoutesOptions

  constructor(options: ChatRoutesOptions) {
    this.#options = options
  }

  /** `POLICY_DENIED` when the app refuses. */
  async tenant(request: Request, action: ChatAction, threadId?: string): Promise<Tenant> {
    const { authorize } = this.#options
    if (authorize === undefined) return {}
    const tenant = await authorize(request, threadId === undefined ? { action } : { action, threadId })
    if (tenant === null) throw new RefusedError('POLICY_DENIED', 'You may not do this.')
    return tenant
  }

  /** `POLICY_DENIED` unless the app says that the caller is an operator. Without `authorize` the one user is. */
  async operator(request: Request, action: ChatAction): Promise<void> {
    const { authorize } = this.#options
    if (authorize === undefined) return
    const caller = await authorize(request, { action })
    if (caller?.isOperator !== true) throw new RefusedError('POLICY_DENIED', 'This is for operators.')
  }

  /** `THREAD_NOT_FOUND` for a missing and for a foreign thread alike. */
  async thread(
    request: Request,
    action: ChatAction,
    threadId: string,
  ): Promise<{ tenant: Tenant; thread: ThreadRecord }> {
    assertId('threadId', threadId)
    const tenant = await this.tenant(request, action, threadId)
    const thread = await this.#options.stores.threads.find(threadId, ownerIdOf(tenant))
    if (thread === null) {
      throw new NotFoundError('THREAD_NOT_FOUND', `No thread ${threadId}.`, { details: { threadId } })
    }
    return { tenant, thread }
  }

  /** The run if its thread is the tenant's, else null. */
  async run(request: Request, action: ChatAction, runId: string): Promise<RunRecord | null> {
    assertId('runId', runId)
    const { stores } = this.#options
    const record = await stores.runs.get(runId)
    const tenant = await this.tenant(request, action, record?.threadId)
    if (record === null) return null
    const thread = await stores.threads.find(record.threadId, ownerIdOf(tenant))
    return thread === null ? null : record
  }
}
