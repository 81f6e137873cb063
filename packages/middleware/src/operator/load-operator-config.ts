import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { InvalidInputError } from '@holdfast/core'
import type { OperatorConfig, OperatorConfigModule } from './operator-config.ts'

/** The same in every command. */
export const operatorArguments = {
  config: {
    type: 'string',
    description: 'module whose default export has stores, sandbox, driver and limits',
    default: 'holdfast.config.mjs',
  },
  json: { type: 'boolean', description: 'print JSON', default: false },
} as const

/** Loads the configuration for one piece of work and closes its stores, whatever it comes to. */
export async function withConfig<T>(
  args: { config: string },
  work: (config: OperatorConfig) => Promise<T>,
): Promise<T> {
  const config = await loadConfig(args.config)
  try {
    return await work(config)
  } finally {
    await config.stores.close()
    await config.sandbox?.provider.close?.()
  }
}

async function loadConfig(path: string): Promise<OperatorConfig> {
  const module = (await importModule(path)) as { default?: OperatorConfigModule }
  const exported = module.default
  const config = typeof exported === 'function' ? await exported() : exported
  if (typeof config?.stores?.runs?.get === 'function') return config
  const message = `${path} must have a default export with \`stores\`, as createPostgresStores() makes them.`
  throw new InvalidInputError('INVALID_CONFIGURATION', message)
}

async function importModule(path: string): Promise<unknown> {
  const file = resolve(path)
  try {
    return await import(pathToFileURL(file).href)
  } catch (cause) {
    if (Reflect.get(cause as object, 'code') !== 'ERR_MODULE_NOT_FOUND') throw cause
    const message = `${file}, or what it imports, was not found. Name the module with --config.`
    throw new InvalidInputError('INVALID_CONFIGURATION', message, { cause })
  }
}
