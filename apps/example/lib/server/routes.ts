import { createChatRoutes, sandboxTools } from '@holdfast/middleware'
import type { ChatRoutes } from '@holdfast/middleware'
import { authorize } from './authorize.ts'
import { model } from './model.ts'
import { sandbox } from './sandbox.ts'
import { stores } from './stores.ts'

/** Everything under `/api`. */
export function routes(): ChatRoutes {
  const { name, adapter } = model()
  return createChatRoutes({
    stores: stores(),
    sandbox: sandbox(),
    model: adapter,
    modelName: name,
    tools: sandboxTools(),
    authorize,
  })
}
