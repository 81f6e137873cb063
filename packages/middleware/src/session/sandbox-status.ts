import { CUSTOM_EVENT } from '@tanstack/ai'
import type { ChatMiddlewareContext } from '@tanstack/ai'
import type { EnsuredSandbox, SandboxProgress } from '../definition/ensure-context.ts'

/** Name of the event that tells a viewer what the sandbox is doing. Its value is a `SandboxProgress`. */
export const SANDBOX_STATUS_EVENT = 'sandbox.status'

/** Tells viewers how far the sandbox is, as events of the run. */
export class SandboxStatus {
  readonly #ctx: ChatMiddlewareContext

  constructor(ctx: ChatMiddlewareContext) {
    this.#ctx = ctx
  }

  show(progress: SandboxProgress): void {
    this.#ctx.emitCustomEvent(SANDBOX_STATUS_EVENT, { ...progress })
  }

  ready(sandbox: EnsuredSandbox): void {
    const name = sandbox.origin === 'resumed' ? CUSTOM_EVENT.SANDBOX_RESUMED : CUSTOM_EVENT.SANDBOX_CREATED
    this.#ctx.emitCustomEvent(name, { sandboxId: sandbox.handle.id, provider: sandbox.handle.provider })
  }
}
