import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import type { DaytonaService } from '../daytona-service.ts'
import type { FaultInjector } from '../faults/fault-injector.ts'
import type { WireFaultEffect } from '../faults/wire-fault.ts'
import { admitPreview, previewTarget, tunnelPreview } from '../preview/preview-proxy.ts'
import { followLog } from '../toolbox/log-stream.ts'
import { EXIT_CONTROL_PROTOCOL } from '../toolbox/pty-session.ts'
import type { Toolbox } from '../toolbox/toolbox.ts'
import { openToolbox } from '../toolbox/toolbox-gate.ts'
import { envsOf, serveTerminal } from '../toolbox/pty-socket.ts'
import { cutAfter } from './cut-socket.ts'
import type { RequestLog } from './request-log.ts'
import { Router } from './router.ts'
import { daemonError, WireError, wireErrorBody } from './wire-error.ts'

const TOOLBOX = /^\/toolbox\/([^/]+)(\/.*)$/
/** Size at which the daemon refuses a message. */
const MAX_MESSAGE_BYTES = 64 * 1_024
const CLOSE_ERROR = 1011
const MAX_REASON_CHARS = 40
const LOGS = '/process/session/:session/command/:command/logs'
const ENTRYPOINT_LOGS = '/process/session/entrypoint/logs'
const CREATE_PTY = '/process/pty/create-connect'
const CONNECT_PTY = '/process/pty/:pty/connect'

interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
  readonly url: URL
}

/** WebSocket handshakes: log streams, terminals, and whatever a sandbox's port serves. */
export class SocketServer {
  readonly #service: DaytonaService
  readonly #faults: FaultInjector
  readonly #requests: RequestLog
  readonly #server: WebSocketServer
  readonly #routes = new Router()

  constructor(service: DaytonaService, faults: FaultInjector, requests: RequestLog) {
    this.#service = service
    this.#faults = faults
    this.#requests = requests
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
      handleProtocols: (offered) => this.#selectProtocol(offered),
    })
    for (const pattern of [LOGS, ENTRYPOINT_LOGS, CREATE_PTY, CONNECT_PTY])
      this.#routes.add('WS', pattern, () => undefined)
  }

  async accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const upgrade = { request, socket, head, url: new URL(request.url ?? '/', this.#service.origin) }
    socket.on('error', () => socket.destroy())
    try {
      await this.#route(upgrade)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      this.#refuse(upgrade, error instanceof WireError ? error : daemonError(500, message))
    }
  }

  close(): void {
    for (const client of this.#server.clients) client.terminate()
    this.#server.close()
  }

  async #route(upgrade: Upgrade): Promise<void> {
    const { request, url } = upgrade
    const preview = previewTarget(url, request.headers.host ?? '')
    if (preview) {
      this.#record(upgrade, 'preview', 'WS /preview', preview.key)
      const record = admitPreview(this.#service, preview, request, url)
      if (!record) throw new WireError({ status: 401, message: 'unauthorized', origin: 'proxy' })
      return tunnelPreview(this.#service, preview, request, upgrade.socket, upgrade.head, record)
    }
    const [, sandboxId = '', path = ''] = TOOLBOX.exec(url.pathname) ?? []
    const match = this.#routes.match('WS', path)
    const route = match ? `WS ${match.route.pattern}` : `WS ${path}`
    const record = this.#record(upgrade, 'socket', route, sandboxId)
    const fault = this.#faults.take(record)
    if (fault && !(await this.#survives(upgrade, fault))) return
    if (fault?.kind === 'kill-sandbox') this.#service.killLater(sandboxId, fault.afterMs)
    await pause(this.#service.knobs.latencyMs)
    const toolbox = openToolbox(this.#service, sandboxId, request, url)
    if (!match) throw new WireError({ status: 404, message: 'page not found', origin: 'daemon' })
    const serve = this.#prepare(match.route.pattern, match.params, toolbox, upgrade)
    const client = await this.#upgrade(upgrade)
    record.status = 101
    const release = this.#holdAwake(sandboxId)
    client.once('close', release)
    // A frame that is too large or malformed; the connection ends with the fitting code by itself.
    client.on('error', () => client.close())
    if (fault?.kind === 'silent-socket') return
    if (fault?.kind === 'cut-socket') cutAfter(client, fault.atByte)
    try {
      await serve(client)
    } catch (error) {
      // The handshake is over, so that a close frame is all that can be said.
      client.close(CLOSE_ERROR, error instanceof Error ? error.message.slice(0, MAX_REASON_CHARS) : '')
    }
  }

  /** What is checked before the handshake is answered, and what runs after it. */
  #prepare(
    pattern: string,
    params: Record<string, string>,
    toolbox: Toolbox,
    { request, url }: Upgrade,
  ): (client: WebSocket) => Promise<void> | void {
    if (pattern === LOGS) {
      const { session = '', command = '' } = params
      const found = toolbox.sessions.openCommand(session, command)
      return (client) => followLog(toolbox, toolbox.sessions.open(session), found, client)
    }
    if (pattern === ENTRYPOINT_LOGS) return (client) => client.close(1000)
    const protocols = (request.headers['sec-websocket-protocol'] ?? '').split(/,\s*/)
    const wantsExit = protocols.includes(EXIT_CONTROL_PROTOCOL)
    if (pattern === CONNECT_PTY || toolbox.knobs.daemon === '0.190') {
      // The old daemon has no such endpoint and takes the word for a session id [D190].
      const id = pattern === CONNECT_PTY ? (params['pty'] ?? '') : 'create-connect'
      if (pattern !== CONNECT_PTY) throw new WireError({ status: 404, message: 'not found', origin: 'daemon' })
      return (client) => serveTerminal(toolbox, client, { id, wantsExit })
    }
    return (client) =>
      serveTerminal(toolbox, client, {
        id: url.searchParams.get('id') ?? '',
        wantsExit,
        create: {
          cols: Number(url.searchParams.get('cols') ?? 80),
          rows: Number(url.searchParams.get('rows') ?? 24),
          envs: envsOf(protocols),
          ...(url.searchParams.has('cwd') ? { cwd: url.searchParams.get('cwd') ?? '' } : {}),
        },
      })
  }

  #selectProtocol(offered: Set<string>): string | false {
    if (offered.has(EXIT_CONTROL_PROTOCOL))
      return this.#service.knobs.daemon === '0.190' ? false : EXIT_CONTROL_PROTOCOL
    return [...offered].find((protocol) => protocol.startsWith('X-Daytona-SDK-Version~')) ?? false
  }

  #upgrade({ request, socket, head }: Upgrade): Promise<WebSocket> {
    return new Promise((resolve) => this.#server.handleUpgrade(request, socket, head, resolve))
  }

  #record({ request }: Upgrade, kind: 'socket' | 'preview', route: string, sandboxId: string) {
    return this.#requests.add({
      kind,
      method: 'WS',
      path: request.url ?? '/',
      route,
      sandboxId,
      at: this.#service.now(),
    })
  }

  #holdAwake(sandboxId: string): () => void {
    const record = this.#service.sandboxes.findById(sandboxId)
    return record ? this.#service.activity.hold(record) : () => undefined
  }

  async #survives({ socket }: Upgrade, fault: WireFaultEffect): Promise<boolean> {
    switch (fault.kind) {
      case 'drop':
      case 'lost-reply':
        socket.destroy()
        return false
      case 'hang':
        return false
      case 'delay':
        await pause(fault.ms)
        return true
      case 'status':
      case 'rate-limit':
      case 'html':
        writeStatus(socket, fault.kind === 'rate-limit' ? 429 : (fault.status ?? 200), '')
        return false
      default:
        return true
    }
  }

  #refuse({ socket, url }: Upgrade, error: WireError): void {
    const timestamp = new Date(this.#service.now()).toISOString()
    const { daemon } = this.#service.knobs
    const body = wireErrorBody(error.input, { method: 'GET', path: url.pathname, timestamp, daemon })
    writeStatus(socket, error.input.status, body === null ? '' : JSON.stringify(body))
  }
}

async function pause(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms))
}

function writeStatus(socket: Duplex, status: number, body: string): void {
  const type = body === '' ? '' : 'Content-Type: application/json\r\n'
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nConnection: close\r\n${type}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}
