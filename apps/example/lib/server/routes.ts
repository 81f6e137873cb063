import { createChatRoutes, sandboxTools } from '@holdfast/middleware'
import type { ChatRoutes } from '@holdfast/middleware'
import { authorize } from './authorize.ts'
import { model } from './model.ts'
import { sandbox } from './sandbox.ts'
import { stores } from './stores.ts'

/** Everything under `/api`. */
export async function routes(): Promise<ChatRoutes> {
  const { name, adapter } = model()
  return createChatRoutes({
    stores: await stores(),
    sandbox: await sandbox(),
    model: adapter,
    modelName: name,
    tools: sandboxTools(),
    authorize,
  })
}
