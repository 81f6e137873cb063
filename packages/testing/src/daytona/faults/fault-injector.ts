import type { DaytonaKnobs, RandomFaultKind } from '../daytona-knobs.ts'
import type { RecordedRequest } from '../http/request-log.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { WireFault, WireFaultEffect } from './wire-fault.ts'

interface PlannedFault {
  readonly fault: WireFault
  seen: number
}

const RANDOM_KINDS: readonly RandomFaultKind[] = [
  'lost-reply',
  'drop',
  'delay',
  'server-error',
  'html',
  'rate-limit',
  'conflict',
  'socket-cut',
  'download-cut',
  'upload-cut',
]
const SOCKET_KINDS: ReadonlySet<RandomFaultKind> = new Set([
  'drop',
  'delay',
  'server-error',
  'socket-cut',
  'hang',
  'kill-sandbox',
])
const CONFLICT_ROUTE = /^(POST|DELETE) \/sandbox\/:sandbox/
const MAX_RANDOM_DELAY_MS = 200

/** Decides which request goes wrong and how: planned faults first, then the dice. */
export class FaultInjector {
  readonly #planned: PlannedFault[] = []
  readonly #knobs: DaytonaKnobs
  readonly #random: SeededRandom

  constructor(knobs: DaytonaKnobs, random: SeededRandom) {
    this.#knobs = knobs
    this.#random = random
  }

  /** Returns a function that takes the fault back. */
  plan(fault: WireFault): () => void {
    const planned = { fault, seen: 0 }
    this.#planned.push(planned)
    return () => {
      const index = this.#planned.indexOf(planned)
      if (index !== -1) this.#planned.splice(index, 1)
    }
  }

  clear(): void {
    this.#planned.length = 0
  }

  /** The fault of this request, if any. Counts the request against every planned fault that matches. */
  take(request: RecordedRequest): WireFaultEffect | undefined {
    let hit: WireFaultEffect | undefined
    for (const planned of this.#planned) {
      if (!matches(planned.fault, request)) continue
      planned.seen += 1
      const { skip = 0, times = 1, effect } = planned.fault
      if (hit === undefined && planned.seen > skip && planned.seen <= skip + times) hit = effect
    }
    return hit ?? this.#roll(request)
  }

  #roll(request: RecordedRequest): WireFaultEffect | undefined {
    const faults = this.#knobs.randomFaults
    if (!faults || request.kind === 'events' || faults.except?.includes(request.route)) return undefined
    if (this.#random.next() >= faults.rate) return undefined
    const fitting = (faults.kinds ?? RANDOM_KINDS).filter((kind) => fits(kind, request))
    const kind = this.#random.pick(fitting)
    return kind === undefined ? undefined : this.#effect(kind)
  }

  #effect(kind: RandomFaultKind): WireFaultEffect {
    switch (kind) {
      case 'lost-reply':
      case 'drop':
        return { kind }
      case 'delay':
        return { kind, ms: this.#random.between(1, MAX_RANDOM_DELAY_MS) }
      case 'server-error':
        return { kind: 'status', status: this.#random.pick([500, 502, 503, 504]) ?? 500 }
      case 'html':
        return { kind, status: this.#random.pick([200, 502]) ?? 502 }
      case 'rate-limit':
        return { kind, retryAfterSeconds: 1 }
      case 'conflict':
        return { kind: 'status', status: 409, body: { statusCode: 409, message: 'Sandbox state change in progress' } }
      case 'socket-cut':
        return { kind: 'cut-socket', atByte: this.#random.between(0, 4_096) }
      case 'hang':
        return { kind, afterWork: this.#random.next() < 0.5 }
      case 'kill-sandbox':
        return { kind, afterMs: this.#random.between(0, MAX_RANDOM_DELAY_MS) }
      case 'upload-cut':
        return { kind: 'cut-upload', atByte: this.#random.between(0, 4_096) }
      case 'download-cut':
        return { kind: 'cut-reply', atByte: this.#random.between(0, 4_096) }
    }
  }
}

function matches(fault: WireFault, request: RecordedRequest): boolean {
  if (fault.sandboxId !== undefined && fault.sandboxId !== request.sandboxId) return false
  if (typeof fault.on === 'string') return fault.on === request.route
  return fault.on.test(request.route) || fault.on.test(`${request.method} ${request.path}`)
}

function fits(kind: RandomFaultKind, request: RecordedRequest): boolean {
  if (request.kind === 'socket') return SOCKET_KINDS.has(kind)
  if (kind === 'socket-cut') return false
  if (kind === 'kill-sandbox') return request.kind === 'toolbox'
  if (kind === 'download-cut') return request.route === 'POST /files/bulk-download'
  if (kind === 'upload-cut') return request.route === 'POST /files/bulk-upload'
  if (kind === 'conflict') return CONFLICT_ROUTE.test(request.route)
  // A web page with status 200 in place of the answer is a wrong URL, which only the control API can have.
  return kind !== 'html' || request.kind === 'control'
}
