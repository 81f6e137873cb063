import { createHash } from 'node:crypto'
import { StoreError } from '@holdfast/core'
import { FakeClock } from '@holdfast/testing'
import { SeededRandom } from './seeded-random.ts'
import type { SimHost } from './sim-host.ts'

/** What a call of a host can do to the world: nothing, change stored data, or something outside of the stores. */
export type CallKind = 'read' | 'write' | 'outside'

/** A call that has left a host and waits for its turn, or an answer on its way back. */
interface Flight {
  readonly host: SimHost
  readonly name: string
  readonly kind: CallKind
  readonly isReply: boolean
  readonly land: () => Promise<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** How hard the world is on its hosts. All are probabilities for one landing call, or one step. */
export interface Weather {
  failBefore: number
  failAfter: number
  slowReply: number
  /** Takes a later call before an earlier one. */
  reorder: number
}

/** Something that must come to an end while its host lives. */
interface Promised {
  readonly host: SimHost
  readonly what: string
}

const nextTurn = setImmediate

/** Longest time that passes in one step. */
const MAX_STEP_MS = 60_000

/** Holds every call between hosts and the outside, and lets them through one at a time as its seed says. */
export class SimWorld {
  readonly random: SeededRandom
  readonly clock = new FakeClock()
  readonly weather: Weather
  readonly trace: string[] = []
  readonly faults: string[] = []
  readonly promised = new Set<Promised>()
  #flights: Flight[] = []

  constructor(seed: number, weather: Weather) {
    this.random = new SeededRandom(seed)
    this.weather = weather
  }

  note(line: string): void {
    this.trace.push(`${this.clock.monotonic()} ${line}`)
  }

  /** Something that must never happen has happened. */
  fault(what: string): void {
    this.note(`FAULT ${what}`)
    this.faults.push(what)
  }

  /** Same for the same seed. */
  get fingerprint(): string {
    return createHash('sha256').update(this.trace.join('\n')).digest('hex').slice(0, 16)
  }

  /** Watches that a promise settles while its host lives. Only the given errors are fine. */
  expectEnd<T>(host: SimHost, what: string, work: Promise<T>): Promise<T> {
    const promised = { host, what }
    this.promised.add(promised)
    return work.finally(() => this.promised.delete(promised))
  }

  /** Sends a call of a host out into the world. `land` is what it does when it arrives. */
  send<T>(host: SimHost, name: string, kind: CallKind, land: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (host.isDead) return
      const settle = resolve as (value: unknown) => void
      this.#flights.push({ host, name, kind, isReply: false, land, resolve: settle, reject })
    })
  }

  /** What a dying host had sent may still land; nobody hears the answers. */
  async dropFlightsOf(host: SimHost): Promise<void> {
    const own = this.#flights.filter((flight) => flight.host === host)
    this.#flights = this.#flights.filter((flight) => flight.host !== host)
    for (const flight of own) {
      if (flight.isReply || !this.random.chance(0.5)) continue
      this.note(`${host.name} ${flight.name} lands after its death`)
      await flight.land().catch(() => undefined)
    }
  }

  /** What a host that is about to freeze had sent lands or waits; answers wait. */
  async settleTurn(): Promise<void> {
    await new Promise<void>((resolve) => nextTurn(resolve))
  }

  /** One call, or one step of time. False when nothing is left that could happen. */
  async step(): Promise<boolean> {
    await this.settleTurn()
    const ready = this.#flights.filter((flight) => !flight.host.isFrozen)
    if (ready.length > 0) {
      const index = this.random.chance(this.weather.reorder) ? this.random.whole(0, ready.length - 1) : 0
      const flight = ready[index] as Flight
      this.#flights.splice(this.#flights.indexOf(flight), 1)
      await this.#landFlight(flight)
      return true
    }
    return this.passTime()
  }

  /** Moves time to the next timer. */
  async passTime(): Promise<boolean> {
    const due = this.clock.nextDueIn
    if (due === undefined || due > MAX_STEP_MS * 10) return false
    await this.clock.advance(Math.min(due, MAX_STEP_MS))
    return true
  }

  async #landFlight(flight: Flight): Promise<void> {
    const { host, name, kind, resolve, reject } = flight
    if (flight.isReply) {
      this.note(`${host.name} ${name} answers`)
      resolve(await flight.land())
      return
    }
    if (kind !== 'outside' && this.random.chance(this.weather.failBefore)) {
      this.note(`${host.name} ${name} fails before`)
      reject(unavailable(name))
      return
    }
    const fails = kind !== 'outside' && this.random.chance(this.weather.failAfter)
    try {
      const value = await flight.land()
      this.note(`${host.name} ${name}${fails ? ' loses its answer' : ''}`)
      if (fails) reject(kind === 'write' ? outcomeUnknown(name) : unavailable(name))
      else if (this.random.chance(this.weather.slowReply)) {
        this.#flights.push({ ...flight, isReply: true, land: () => Promise.resolve(value) })
      } else resolve(value)
    } catch (error) {
      this.note(`${host.name} ${name} is refused: ${codeOf(error)}`)
      reject(error)
    }
  }
}

export function codeOf(error: unknown): string {
  const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' ? code : String(error)
}

function unavailable(name: string): StoreError {
  return new StoreError('STORE_UNAVAILABLE', `${name} could not be reached.`, { retryable: true })
}

function outcomeUnknown(name: string): StoreError {
  return new StoreError('STORE_OUTCOME_UNKNOWN', `The answer of ${name} was lost.`)
}
