import type { HoldfastStores, SandboxProvider } from '@holdfast/core'
import type { RunDriver, SandboxDefinition } from '@holdfast/middleware'
import { HostClock } from './host-clock.ts'
import type { SimWorld } from './sim-world.ts'

export interface HostParts {
  stores: HoldfastStores
  provider: SandboxProvider
  sandbox: SandboxDefinition
  driver: RunDriver
}

/** A process of the app: one view of the stores, one clock, and what it drives. */
export class SimHost {
  readonly name: string
  readonly clock: HostClock
  isDead = false
  isFrozen = false
  /** Nothing goes wrong for it any more. */
  isHealthy = false
  readonly #world: SimWorld
  readonly #onDeath: (() => void)[] = []
  #parts: HostParts | undefined

  constructor(world: SimWorld, name: string) {
    this.#world = world
    this.name = name
    this.clock = new HostClock(world, this)
  }

  get parts(): HostParts {
    if (this.#parts === undefined) throw new TypeError(`${this.name} is not set up.`)
    return this.#parts
  }

  set parts(parts: HostParts) {
    this.#parts = parts
  }

  get isUp(): boolean {
    return !this.isDead && !this.isFrozen
  }

  /** Called at once when it is dead already. */
  onDeath(fn: () => void): void {
    if (this.isDead) fn()
    else this.#onDeath.push(fn)
  }

  /** As `kill -9` does: nothing of it happens any more, except what it had sent. */
  async crash(): Promise<void> {
    this.#world.note(`${this.name} crashes`)
    this.isDead = true
    this.clock.stop()
    for (const fn of this.#onDeath.splice(0)) fn()
    await this.#world.dropFlightsOf(this)
  }

  /** As SIGSTOP does. */
  freeze(): void {
    this.#world.note(`${this.name} freezes`)
    this.isFrozen = true
  }

  thaw(): void {
    this.#world.note(`${this.name} thaws`)
    this.isFrozen = false
    this.clock.thaw()
  }
}
