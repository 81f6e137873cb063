import { rm } from 'node:fs/promises'
import type { DaytonaService } from '../daytona-service.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Router } from '../http/router.ts'
import { apiError } from '../http/wire-error.ts'
import { readApiJson } from './read-api-json.ts'
import type { OrganizationOf } from './sandbox-routes.ts'
import { snapshotDto, type SnapshotRecord } from './snapshot-registry.ts'

interface CreateSnapshotBody {
  name: string
  imageName: string
  buildInfo: object
  cpu: number
  memory: number
  disk: number
}

const NAME = /^[A-Za-z0-9_.:-]+(\/[A-Za-z0-9_.:-]+)*$/
const DEFAULT_PAGE_SIZE = 100

export function addSnapshotRoutes(router: Router, service: DaytonaService, organizationOf: OrganizationOf): void {
  const open = (exchange: Exchange): SnapshotRecord =>
    service.snapshots.open(exchange.param('snapshot'), organizationOf(exchange))
  router.add('GET', '/snapshots', (exchange) => {
    const source = exchange.query('sourceSandboxId')
    const all = service.snapshots
      .list(organizationOf(exchange))
      .filter((record) => source === undefined || record.sourceSandboxId === source)
    const page = Number(exchange.query('page') ?? 1)
    const limit = Number(exchange.query('limit') ?? DEFAULT_PAGE_SIZE)
    const items = all.slice((page - 1) * limit, page * limit).map(snapshotDto)
    exchange.json(200, { items, total: all.length, page, totalPages: Math.ceil(all.length / limit) })
  })
  router.add('POST', '/snapshots', async (exchange) => {
    const body = await readApiJson<CreateSnapshotBody>(exchange)
    exchange.json(200, snapshotDto(buildSnapshot(service, body, organizationOf(exchange))))
  })
  router.add('GET', '/snapshots/:snapshot', (exchange) => exchange.json(200, snapshotDto(open(exchange))))
  router.add('DELETE', '/snapshots/:snapshot', (exchange) => {
    removeSnapshot(service, openById(exchange))
    exchange.send(200)
  })
  router.add('POST', '/snapshots/:snapshot/activate', (exchange) => {
    const record = openById(exchange)
    if (record.state === 'active') throw apiError(400, `Snapshot ${record.name} is already active`)
    if (record.state !== 'inactive') throw apiError(400, `Snapshot ${record.name} is ${record.state}`)
    service.snapshots.setState(record, 'active')
    exchange.json(200, snapshotDto(record))
  })
  router.add('GET', '/snapshots/:snapshot/build-logs-url', (exchange) => {
    exchange.json(200, { url: `${service.origin}/api/snapshots/${open(exchange).id}/build-logs` })
  })
  router.add('GET', '/snapshots/:snapshot/build-logs', (exchange) =>
    exchange.send(200, 'Step 1/1 : FROM image\nbuilt\n'),
  )

  /** Only reads take a name. */
  function openById(exchange: Exchange): SnapshotRecord {
    const record = open(exchange)
    if (record.id !== exchange.param('snapshot'))
      throw apiError(404, `Snapshot ${exchange.param('snapshot')} not found`)
    if (record.organizationId === null) throw apiError(403, 'You cannot change a general snapshot')
    return record
  }
}

function buildSnapshot(
  service: DaytonaService,
  body: Partial<CreateSnapshotBody>,
  organizationId: string,
): SnapshotRecord {
  const { name = '', imageName = null, buildInfo = null } = body
  if (!NAME.test(name)) throw apiError(400, `Invalid snapshot name: ${name}`)
  if (imageName === null && buildInfo === null) throw apiError(400, 'imageName or buildInfo is required')
  if (service.snapshots.find(name, organizationId)) throw apiError(409, `Snapshot with name ${name} already exists`)
  const size = { cpu: body.cpu ?? 1, mem: body.memory ?? 1, disk: body.disk ?? 3 }
  const record = service.snapshots.add({ name, organizationId, state: 'pending', imageName, buildInfo, ...size })
  const { pending_build: pendingMs, building_snapshot: buildMs } = service.knobs.transitionMs
  setTimeout(() => service.snapshots.setState(record, buildInfo ? 'building' : 'pulling'), pendingMs).unref()
  setTimeout(() => finishBuild(service, record), pendingMs + buildMs).unref()
  return record
}

function finishBuild(service: DaytonaService, record: SnapshotRecord): void {
  const failure = service.transitions.takeFailure('building_snapshot')
  record.errorReason = failure?.reason ?? null
  const failed = record.buildInfo ? 'build_failed' : 'error'
  service.snapshots.setState(record, failure ? failed : 'active')
}

function removeSnapshot(service: DaytonaService, record: SnapshotRecord): void {
  service.snapshots.setState(record, 'removing')
  service.snapshots.remove(record.id)
  if (record.filesDir !== null) void rm(record.filesDir, { recursive: true, force: true })
}
