import { createChatRoutes, sandboxTools } from '@holdfast/middleware'
import type { ChatRoutes, ChatRoutesOptions } from '@holdfast/middleware'
import { authorize } from './authorize.ts'
import { model } from './model.ts'
import { sandbox } from './sandbox.ts'
import { stores } from './stores.ts'

/** Everything under `/api`. */
export function routes(): ChatRoutes {
  return createChatRoutes(chatOptions())
}

/** What a run is made of, for the routes that start one and the reaper that continues one. */
export function chatOptions(): ChatRoutesOptions {
  const { name, adapter } = model()
  return {
    stores: stores(),
    sandbox: sandbox(),
    model: adapter,
    modelName: name,
    tools: sandboxTools(),
    // Into the same stores as everything else.
    checkpoints: { on: ['finish', 'error', 'interrupt'] },
    authorize,
  }
}
