import type { SandboxFileHookEvent } from '@tanstack/ai'
import type { DefinitionLogger } from '../definition/definition-logger.ts'
import type { SandboxFileHooks } from '../definition/sandbox-hooks.ts'

const HOOK_OF_TYPE = { create: 'onFileCreate', change: 'onFileChange', delete: 'onFileDelete' } as const

/** Calls the general hook, then the one for the type. What a hook throws is logged and stops nothing. */
export async function callFileHooks(
  hooks: SandboxFileHooks,
  event: SandboxFileHookEvent,
  logger: DefinitionLogger,
): Promise<void> {
  for (const name of ['onFile', HOOK_OF_TYPE[event.type]] as const) {
    try {
      await hooks[name]?.(event)
    } catch (error) {
      logger.warn(`The ${name} hook failed for ${event.path}.`, error)
    }
  }
}
