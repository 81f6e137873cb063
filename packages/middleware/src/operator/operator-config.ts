import type { HoldfastStores } from '@holdfast/core'
import type { SandboxDefinition } from '../definition/sandbox-definition.ts'
import type { RunLimits } from '../routes/chat-routes-options.ts'
import type { RunDriver } from '../runs/run-driver.ts'

/** What the operator's command works with: the default export of its configuration module. */
export interface OperatorConfig {
  stores: HoldfastStores
  /** Needed to destroy sandboxes and to sweep. */
  sandbox?: SandboxDefinition
  /** Continues runs whose host died, in the command's own process. Without one they are settled. */
  driver?: RunDriver
  limits?: RunLimits
}

/** The configuration as it is, made by a function, or promised. */
export type OperatorConfigModule = OperatorConfig | (() => OperatorConfig | Promise<OperatorConfig>)

/** For the types in a configuration module. */
export function defineOperatorConfig(config: OperatorConfigModule): OperatorConfigModule {
  return config
}
