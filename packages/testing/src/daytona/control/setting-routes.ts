import { randomBytes } from 'node:crypto'
import type { DaytonaService } from '../daytona-service.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Router } from '../http/router.ts'
import { apiError } from '../http/wire-error.ts'
import { archiveMinutes } from './create-sandbox.ts'
import { applyNetworkSettings, type NetworkSettings } from './network-settings.ts'
import { readApiJson } from './read-api-json.ts'
import type { SandboxRecord } from './sandbox-record.ts'
import type { OrganizationOf } from './sandbox-routes.ts'

const MINUTE_MS = 60_000
const MAX_PORT = 65_535
const SIGNED_SECONDS = { default: 60, max: 86_400 }

/** Labels, clocks, network, and the ways in: everything about a sandbox that leaves its state alone. */
export function addSettingRoutes(router: Router, service: DaytonaService, organizationOf: OrganizationOf): void {
  const open = (exchange: Exchange): SandboxRecord => {
    const record = service.sandboxes.open(exchange.param('sandbox'), organizationOf(exchange))
    exchange.record.sandboxId = record.id
    return record
  }
  router.add('PUT', '/sandbox/:sandbox/labels', async (exchange) => {
    const record = open(exchange)
    const { labels } = await readApiJson<{ labels: Record<string, string> }>(exchange)
    if (typeof labels !== 'object' || labels === null) throw apiError(400, 'labels must be an object')
    record.labels = { ...labels }
    exchange.json(200, { labels })
  })
  addIntervalRoutes(router, service, open)
  router.add('POST', '/sandbox/:sandbox/last-activity', (exchange) => {
    service.activity.note(open(exchange), 'refresh')
    exchange.send(201)
  })
  router.add('POST', '/sandbox/:sandbox/network-settings', async (exchange) => {
    const record = open(exchange)
    applyNetworkSettings(record, await readApiJson<NetworkSettings>(exchange))
    exchange.json(200, service.dto(record))
  })
  router.add('POST', '/sandbox/:sandbox/public/:isPublic', (exchange) => {
    const record = open(exchange)
    record.isPublic = exchange.param('isPublic') === 'true'
    exchange.json(200, service.dto(record))
  })
  router.add('PUT', '/sandbox/:sandbox/secrets', (exchange) => exchange.json(200, service.dto(open(exchange))))
  router.add('GET', '/sandbox/:sandbox/toolbox-proxy-url', (exchange) => {
    open(exchange)
    exchange.json(200, { url: service.toolboxProxyUrl })
  })
  router.add('GET', '/sandbox/:sandbox/build-logs-url', (exchange) => {
    exchange.json(200, { url: `${service.origin}/api/sandbox/${open(exchange).id}/build-logs` })
  })
  router.add('GET', '/sandbox/:sandbox/build-logs', (exchange) => exchange.send(200, 'Step 1/1 : FROM image\nbuilt\n'))
  router.add('GET', '/sandbox/:sandbox/signing-key', (exchange) => exchange.json(200, open(exchange).signingKey))
  router.add('POST', '/sandbox/:sandbox/signing-key/rotate', (exchange) => {
    const record = open(exchange)
    record.signingKey = randomBytes(32).toString('hex')
    exchange.json(200, record.signingKey)
  })
  addPreviewRoutes(router, service, open)
  addSshRoutes(router, service, open)
}

type OpenSandbox = (exchange: Exchange) => SandboxRecord

function addIntervalRoutes(router: Router, service: DaytonaService, open: OpenSandbox): void {
  const add = (path: string, least: number, set: (record: SandboxRecord, minutes: number) => void): void => {
    router.add('POST', `/sandbox/:sandbox/${path}/:minutes`, (exchange) => {
      const record = open(exchange)
      const minutes = Number(exchange.param('minutes'))
      if (!Number.isInteger(minutes) || minutes < least)
        throw apiError(400, `${path} interval must be an integer ≥ ${least}`)
      set(record, minutes)
      // A created status, unlike the other changes [A190].
      exchange.json(201, service.dto(record))
    })
  }
  add('autostop', 0, (record, minutes) => (record.autoStopMinutes = minutes))
  add('autopause', 0, (record, minutes) => (record.autoPauseMinutes = minutes))
  add('autoarchive', 0, (record, minutes) => (record.autoArchiveMinutes = archiveMinutes(minutes)))
  add('autodelete', -1, (record, minutes) => (record.autoDeleteMinutes = minutes))
  add('ttl', 0, (record, minutes) => {
    record.autoDestroyAt = minutes === 0 ? null : service.now() + minutes * MINUTE_MS
  })
}

function addPreviewRoutes(router: Router, service: DaytonaService, open: OpenSandbox): void {
  const base = '/sandbox/:sandbox/ports/:port'
  const previewUrl = (port: number, key: string): string => {
    if (service.knobs.previewStyle === 'path') return `${service.origin}/preview/${port}-${key}`
    const { port: serverPort } = new URL(service.origin)
    return `http://${port}-${key}.localhost:${serverPort}`
  }
  router.add('GET', `${base}/preview-url`, (exchange) => {
    const record = open(exchange)
    const port = portOf(exchange)
    exchange.json(200, { sandboxId: record.id, url: previewUrl(port, record.id), token: record.authToken })
  })
  router.add('GET', `${base}/signed-preview-url`, (exchange) => {
    const record = open(exchange)
    const port = portOf(exchange)
    const seconds = Number(exchange.query('expiresInSeconds') ?? SIGNED_SECONDS.default)
    if (!Number.isInteger(seconds) || seconds < 1 || seconds > SIGNED_SECONDS.max)
      throw apiError(400, `expiresInSeconds must be between 1 and ${SIGNED_SECONDS.max}`)
    const token = service.previews.sign(record.id, port, seconds)
    exchange.json(200, { sandboxId: record.id, port, token, url: previewUrl(port, token) })
  })
  router.add('POST', `${base}/signed-preview-url/:token/expire`, (exchange) => {
    open(exchange)
    service.previews.expire(exchange.param('token'))
    exchange.send(200)
  })
}

function portOf(exchange: Exchange): number {
  const port = Number(exchange.param('port'))
  if (!Number.isInteger(port) || port < 1 || port > MAX_PORT) throw apiError(400, 'Invalid port')
  return port
}

function addSshRoutes(router: Router, service: DaytonaService, open: OpenSandbox): void {
  router.add('POST', '/sandbox/:sandbox/ssh-access', (exchange) => {
    const record = open(exchange)
    const minutes = exchange.query('expiresInMinutes')
    if (minutes !== undefined && !(Number(minutes) > 0)) throw apiError(400, 'expiresInMinutes must be positive')
    exchange.json(200, service.sshAccess.create(record.id, minutes === undefined ? undefined : Number(minutes)))
  })
  router.add('DELETE', '/sandbox/:sandbox/ssh-access', (exchange) => {
    const record = open(exchange)
    service.sshAccess.revoke(record.id, exchange.query('token'))
    exchange.json(200, service.dto(record))
  })
  router.add('GET', '/sandbox/ssh-access/validate', (exchange) => {
    exchange.json(200, service.sshAccess.validate(exchange.query('token') ?? ''))
  })
}
