import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { systemClock, type Clock } from '@holdfast/core'
import type { SandboxRecord } from './control/sandbox-record.ts'
import type { PlannedFailure } from './control/sandbox-transitions.ts'
import type { SnapshotState } from './control/snapshot-registry.ts'
import { applyKnobs, DEFAULT_KNOBS, type DaytonaKnobInput, type TransitionalState } from './daytona-knobs.ts'
import { DaytonaService } from './daytona-service.ts'
import { FaultInjector } from './faults/fault-injector.ts'
import type { WireFault } from './faults/wire-fault.ts'
import { EventChannel, EVENTS_PATH } from './http/event-channel.ts'
import type { Organization } from './http/organizations.ts'
import { RequestHandler } from './http/request-handler.ts'
import { RequestLog } from './http/request-log.ts'
import { SocketServer } from './http/socket-server.ts'
import { SeededRandom } from './seeded-random.ts'
import { createServerDir, type ServerDir } from './server-dir.ts'

/** Port, keys, seed and knobs of a server. */
export interface DaytonaServerOptions extends DaytonaKnobInput {
  /** 0, the default, takes a free one. */
  port?: number
  /** Measures idle times, expiries and rate limits. Transitions and processes take real time. */
  clock?: Clock
  /** Where every random choice comes from. Default 1. */
  seed?: number
  apiKey?: string
}

/** A sandbox as the server holds it. */
export interface HeldSandbox {
  readonly sandboxId: string
  readonly name: string
  readonly state: string
  readonly desiredState: string
  readonly labels: Readonly<Record<string, string>>
  readonly organizationId: string
  /** Epoch milliseconds by the server's clock. */
  readonly lastActivityAt: number
  /** Where its home directory is on this machine. */
  readonly homeDir: string
}

const HOST = '127.0.0.1'
const SERVER_TAG = 'HOLDFAST_DAYTONA_SERVER'

/** Starts a server that speaks Daytona's wire protocol, with real files and processes and without any isolation. */
export async function startDaytonaServer(options: DaytonaServerOptions = {}): Promise<DaytonaServer> {
  const { port = 0, clock = systemClock, seed = 1, apiKey, ...knobInput } = options
  const serverTag = { name: SERVER_TAG, value: randomUUID() }
  const dir = await createServerDir(serverTag)
  const knobs = { ...DEFAULT_KNOBS }
  applyKnobs(knobs, knobInput)
  const service = new DaytonaService({ knobs, clock, random: new SeededRandom(seed), baseDir: dir.path, serverTag })
  const organization = service.organizations.add(apiKey === undefined ? {} : { apiKey })
  const http = createServer()
  const server = new DaytonaServer(
    service,
    http,
    dir,
    organization,
    new FaultInjector(knobs, new SeededRandom(seed + 1)),
  )
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(port, HOST, resolve)
  })
  service.origin = `http://${HOST}:${(http.address() as AddressInfo).port}`
  return server
}

/** A running server, with what a test asks of it. */
export class DaytonaServer {
  /** Every request that arrived. */
  readonly requests = new RequestLog()
  readonly apiKey: string
  readonly organizationId: string
  /** Works for every organization with its id in the header, or as `organizationId` of the SDK. */
  readonly jwtToken: string
  readonly #service: DaytonaService
  readonly #http: Server
  readonly #dir: ServerDir
  readonly #faults: FaultInjector
  readonly #sockets: SocketServer
  readonly #events: EventChannel
  readonly #upgraded = new Set<Duplex>()
  #closed: Promise<void> | undefined

  constructor(
    service: DaytonaService,
    http: Server,
    dir: ServerDir,
    organization: Organization,
    faults: FaultInjector,
  ) {
    this.#service = service
    this.#http = http
    this.#dir = dir
    this.#faults = faults
    this.apiKey = organization.apiKey
    this.organizationId = organization.organizationId
    this.jwtToken = organization.jwtToken
    const handler = new RequestHandler(service, faults, this.requests)
    this.#sockets = new SocketServer(service, faults, this.requests)
    // An idle connection that the server ended could hit a request on its way: it stays open instead.
    http.keepAliveTimeout = 0
    http.requestTimeout = 0
    http.on('request', (request, response) => {
      if (!request.url?.startsWith(EVENTS_PATH)) void handler.handle(request, response)
    })
    this.#events = new EventChannel(service, http, this.requests)
    this.#interceptUpgrades()
    service.onStateChange = (change) => this.#events.stateUpdated(change)
    service.onCreated = (record) => this.#events.created(record.organizationId, service.dto(record))
  }

  /** For the SDK's `apiUrl`. */
  get url(): string {
    return `${this.#service.origin}/api`
  }

  /** All that is held: what is on its way out included, what is destroyed not. */
  sandboxes(): HeldSandbox[] {
    return this.#service.sandboxes.list().map(heldSandbox)
  }

  /** Names of the snapshots that this account made, with their states. */
  snapshots(): { name: string; state: SnapshotState; sourceSandboxId: string | null }[] {
    const own = this.#service.snapshots.list(this.organizationId).filter((record) => record.organizationId !== null)
    return own.map(({ name, state, sourceSandboxId }) => ({ name, state, sourceSandboxId }))
  }

  /** Live SSH grants of a sandbox. */
  sshAccessCount(sandboxId: string): number {
    return this.#service.sshAccess.count(sandboxId)
  }

  /** Turns knobs while the server runs. */
  configure(knobs: DaytonaKnobInput): void {
    applyKnobs(this.#service.knobs, knobs)
  }

  /** Plans a fault; the returned function takes it back. Faults are tried in the order they were planned. */
  setFault(fault: WireFault): () => void {
    return this.#faults.plan(fault)
  }

  clearFaults(): void {
    this.#faults.clear()
    this.configure({ randomFaults: null })
  }

  /** Makes the next passage through a state fail. A failed snapshot is silent, any other gives an errored sandbox. */
  failNext(state: TransitionalState, failure: PlannedFailure): void {
    this.#service.transitions.failNext(state, failure)
  }

  /** Puts a sandbox into any state, legal or not, as somebody else's request or a fault of the service would. */
  async forceState(
    sandboxId: string,
    state: string,
    error: { reason?: string; recoverable?: boolean } = {},
  ): Promise<void> {
    const record = this.#open(sandboxId)
    await this.#service.lifecycle.force(record, state)
    record.errorReason = error.reason ?? null
    record.recoverable = error.recoverable ?? false
  }

  /** The container dies: processes and connections end, and the sandbox is stopped without anybody having asked. */
  async killSandbox(sandboxId: string): Promise<void> {
    await this.#service.lifecycle.kill(this.#open(sandboxId))
  }

  /** Resolves when no transition of the sandbox is going on. */
  async settled(sandboxId: string): Promise<void> {
    while (this.#service.sandboxes.findById(sandboxId)?.job)
      await this.#service.sandboxes.findById(sandboxId)?.job?.done
  }

  /** What the service's timers do every `idleCheckMs`, now. */
  checkIdle(): void {
    this.#service.activity.check()
  }

  setSnapshotState(name: string, state: SnapshotState): void {
    this.#service.snapshots.setState(this.#service.snapshots.open(name, this.organizationId), state)
  }

  addOrganization(): Organization {
    return this.#service.organizations.add()
  }

  revokeKey(apiKey: string): void {
    this.#service.organizations.revoke(apiKey)
  }

  /** Ends every sandbox with its processes and files. Repeatable. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#sockets.close()
    await this.#events.close()
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()))
    await this.#service.close()
    this.#http.closeAllConnections()
    for (const socket of this.#upgraded) socket.destroy()
    await closed
    await this.#dir.remove()
  }

  /** Socket.IO has put its own listener in; this one decides who sees an upgrade. */
  #interceptUpgrades(): void {
    const [serveEvents] = this.#http.listeners('upgrade') as ((...args: unknown[]) => void)[]
    this.#http.removeAllListeners('upgrade')
    this.#http.on('upgrade', (request, socket, head) => {
      this.#upgraded.add(socket)
      socket.once('close', () => this.#upgraded.delete(socket))
      if (!request.url?.startsWith(EVENTS_PATH)) return void this.#sockets.accept(request, socket, head)
      const { events } = this.#service.knobs
      if (events === 'serve') serveEvents?.(request, socket, head)
      else if (events === 'refuse')
        socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
    })
  }

  #open(sandboxId: string): SandboxRecord {
    const record = this.#service.sandboxes.findById(sandboxId)
    if (!record) throw new TypeError(`The server holds no sandbox ${sandboxId}.`)
    return record
  }
}

function heldSandbox(record: SandboxRecord): HeldSandbox {
  const { id, name, state, desiredState, labels, organizationId, lastActivityAt, roots } = record
  return {
    sandboxId: id,
    name,
    state,
    desiredState,
    labels: { ...labels },
    organizationId,
    lastActivityAt,
    homeDir: roots.home,
  }
}
