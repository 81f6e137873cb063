import type { HoldfastStores } from '@holdfast/core'
import type { RunDriver, SandboxDefinition } from '@holdfast/middleware'
import type { SimHost } from './sim-host.ts'

/** A bug that is planted at a seam, to see whether the simulation finds it. */
export interface Mutant {
  readonly name: string
  /** The shared stores, below what is checked. */
  readonly shared?: (stores: HoldfastStores) => HoldfastStores
  /** One host's view of them, above its faults. */
  readonly stores?: (stores: HoldfastStores, host: SimHost) => HoldfastStores
  readonly driver?: (driver: RunDriver) => RunDriver
  readonly sandbox?: (sandbox: SandboxDefinition) => SandboxDefinition
}
