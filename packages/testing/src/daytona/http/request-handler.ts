import type { IncomingMessage, ServerResponse } from 'node:http'
import { addSandboxRoutes } from '../control/sandbox-routes.ts'
import { addSettingRoutes } from '../control/setting-routes.ts'
import { addSnapshotRoutes } from '../control/snapshot-routes.ts'
import { addVolumeRoutes } from '../control/volume-routes.ts'
import type { DaytonaService } from '../daytona-service.ts'
import { applyFault } from '../faults/apply-fault.ts'
import type { FaultInjector } from '../faults/fault-injector.ts'
import { previewTarget, servePreview } from '../preview/preview-proxy.ts'
import { serveSignedFile } from '../toolbox/signed-files.ts'
import type { Toolbox } from '../toolbox/toolbox.ts'
import { openToolbox } from '../toolbox/toolbox-gate.ts'
import { createToolboxRouter } from '../toolbox/toolbox-routes.ts'
import { Exchange } from './exchange.ts'
import { RateLimiter } from './rate-limiter.ts'
import type { RecordedRequest, RequestLog } from './request-log.ts'
import { Router, type RouteMatch } from './router.ts'
import { apiError, daemonError, WireError } from './wire-error.ts'

const TOOLBOX = /^\/toolbox\/([^/]+)(\/.*)$/
const API_PREFIX = '/api'
const PAGE = '<!doctype html><html><head><title>Daytona</title></head><body></body></html>'

/** Takes each HTTP request to its part of the service, through the log, the faults, the keys and the limits. */
export class RequestHandler {
  readonly #service: DaytonaService
  readonly #faults: FaultInjector
  readonly #requests: RequestLog
  readonly #limits: RateLimiter
  readonly #control = new Router()
  readonly #toolbox: Router
  readonly #organizations = new WeakMap<Exchange, string>()
  readonly #toolboxes = new WeakMap<Exchange, Toolbox>()

  constructor(service: DaytonaService, faults: FaultInjector, requests: RequestLog) {
    this.#service = service
    this.#faults = faults
    this.#requests = requests
    this.#limits = new RateLimiter(service.knobs, service.now)
    const organizationOf = (exchange: Exchange): string => this.#organizations.get(exchange) ?? ''
    addSandboxRoutes(this.#control, service, organizationOf)
    addSettingRoutes(this.#control, service, organizationOf)
    addSnapshotRoutes(this.#control, service, organizationOf)
    addVolumeRoutes(this.#control, service.now, organizationOf)
    this.#control.add('GET', '/config', (exchange) => exchange.json(200, { version: '0.218.0' }))
    this.#toolbox = createToolboxRouter((exchange) => this.#openedToolbox(exchange))
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.#service.origin)
    const plan = this.#plan(url, request)
    const record = this.#requests.add({
      ...plan.record,
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      at: this.#service.now(),
    })
    const daemon = (): '0.190' | '0.218' => this.#service.knobs.daemon
    const exchange = new Exchange({ request, response, url, record, daemon, now: this.#service.now })
    exchange.params = plan.match?.params ?? {}
    try {
      const fault = this.#faults.take(record)
      if (fault && !(await applyFault(exchange, fault))) return
      if (fault?.kind === 'kill-sandbox') this.#service.killLater(record.sandboxId, fault.afterMs)
      await this.#delay()
      await plan.serve(exchange)
    } catch (error) {
      exchange.fail(error instanceof WireError ? error : apiError(500, describe(error)))
    } finally {
      // A body that nobody read would hold the connection up.
      if (!request.complete) request.resume()
    }
  }

  #plan(url: URL, request: IncomingMessage): RequestPlan {
    const method = request.method ?? 'GET'
    const preview = previewTarget(url, request.headers.host ?? '')
    if (preview) {
      const record = { kind: 'preview' as const, route: `${method} /preview` }
      return { record, serve: (exchange) => servePreview(this.#service, preview, exchange) }
    }
    const [, sandboxId, path = ''] = TOOLBOX.exec(url.pathname) ?? []
    if (sandboxId !== undefined) {
      const match = this.#toolbox.match(method, path)
      const record = { kind: 'toolbox' as const, route: `${method} ${match?.route.pattern ?? path}`, sandboxId }
      return { record, match, serve: (exchange) => this.#serveToolbox(exchange, sandboxId, path, match) }
    }
    if (!url.pathname.startsWith(`${API_PREFIX}/`)) {
      const record = { kind: 'unknown' as const, route: `${method} ${url.pathname}` }
      return { record, serve: (exchange) => exchange.send(404, PAGE, { 'content-type': 'text/html; charset=utf-8' }) }
    }
    const match = this.#control.match(method, url.pathname.slice(API_PREFIX.length))
    const route = `${method} ${match?.route.pattern ?? url.pathname.slice(API_PREFIX.length)}`
    return { record: { kind: 'control', route }, match, serve: (exchange) => this.#serveControl(exchange, match) }
  }

  async #serveControl(exchange: Exchange, match: RouteMatch | undefined): Promise<void> {
    const organizationId = this.#authenticate(exchange)
    this.#organizations.set(exchange, organizationId)
    this.#limits.check(exchange, organizationId)
    if (!match) throw apiError(404, `Cannot ${exchange.method} ${exchange.url.pathname}`)
    await match.route.handler(exchange)
  }

  async #serveToolbox(
    exchange: Exchange,
    sandboxId: string,
    path: string,
    match: RouteMatch | undefined,
  ): Promise<void> {
    if (await serveSignedFile(this.#service, exchange, sandboxId, path)) return
    this.#toolboxes.set(exchange, openToolbox(this.#service, sandboxId, exchange.request, exchange.url))
    if (!match) throw daemonError(404, 'page not found')
    await match.route.handler(exchange)
  }

  /** Repeated wrong keys turn into 429 [A190]. */
  #authenticate(exchange: Exchange): string {
    try {
      return this.#service.organizations.open(exchange.headers)
    } catch (error) {
      this.#limits.count(exchange, 'failed-auth', exchange.request.socket.remoteAddress ?? '')
      throw error
    }
  }

  #openedToolbox(exchange: Exchange): Toolbox {
    const toolbox = this.#toolboxes.get(exchange)
    if (!toolbox) throw daemonError(500, 'no toolbox')
    return toolbox
  }

  async #delay(): Promise<void> {
    const { latencyMs } = this.#service.knobs
    if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, latencyMs))
  }
}

interface RequestPlan {
  readonly record: Pick<RecordedRequest, 'kind' | 'route'> & { sandboxId?: string }
  readonly match?: RouteMatch | undefined
  readonly serve: (exchange: Exchange) => Promise<void> | void
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
