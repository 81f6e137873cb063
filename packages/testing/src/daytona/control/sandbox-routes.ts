import type { DaytonaService } from '../daytona-service.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Router } from '../http/router.ts'
import { apiError } from '../http/wire-error.ts'
import { forkedRecord, newSandboxRecord, type CreateContext, type CreateSandboxBody } from './create-sandbox.ts'
import { readApiJson } from './read-api-json.ts'
import { listPage } from './sandbox-list.ts'
import type { SandboxRecord } from './sandbox-record.ts'
import { createRoots } from './sandbox-roots.ts'
import { saveSnapshot } from './snapshot-sandbox.ts'
import type { TransitionStep } from './sandbox-transitions.ts'

export type OrganizationOf = (exchange: Exchange) => string

/** Create, read, list and the changes of state. */
export function addSandboxRoutes(router: Router, service: DaytonaService, organizationOf: OrganizationOf): void {
  const open = (exchange: Exchange): SandboxRecord => {
    const record = service.sandboxes.open(exchange.param('sandbox'), organizationOf(exchange))
    exchange.record.sandboxId = record.id
    return record
  }
  const answer = (exchange: Exchange, record: SandboxRecord): void => exchange.json(200, service.dto(record))
  const change = (path: string, act: (record: SandboxRecord) => void): void => {
    router.add('POST', `/sandbox/:sandbox/${path}`, (exchange) => {
      const record = open(exchange)
      act(record)
      answer(exchange, record)
    })
  }
  router.add('POST', '/sandbox', (exchange) => createSandbox(exchange, service, organizationOf(exchange)))
  router.add('GET', '/sandbox', (exchange) => {
    const visibleUntil = service.now() - service.knobs.listLagMs
    const all = service.sandboxes.list(organizationOf(exchange)).filter((record) => record.createdAt <= visibleUntil)
    const { records, nextCursor } = listPage(exchange, all)
    exchange.json(200, { items: records.map((record) => service.listItem(record)), nextCursor })
  })
  router.add('GET', '/sandbox/:sandbox', (exchange) => answer(exchange, open(exchange)))
  router.add('DELETE', '/sandbox/:sandbox', (exchange) => {
    const record = open(exchange)
    service.lifecycle.destroy(record)
    answer(exchange, record)
  })
  change('start', (record) => service.lifecycle.start(record))
  change('stop', (record) => service.lifecycle.stop(record))
  change('pause', (record) => service.lifecycle.pause(record))
  change('archive', (record) => service.lifecycle.archive(record))
  change('recover', (record) => service.lifecycle.recover(record))
  router.add('POST', '/sandbox/:sandbox/resize', async (exchange) => {
    const record = open(exchange)
    service.lifecycle.resize(record, await readApiJson(exchange))
    answer(exchange, record)
  })
  router.add('POST', '/sandbox/:sandbox/snapshot', async (exchange) => {
    const record = open(exchange)
    const { name } = await readApiJson<{ name: string }>(exchange)
    if (typeof name !== 'string' || name.trim() === '') throw apiError(400, 'name should not be empty')
    service.lifecycle.snapshot(record, (root) => saveSnapshot(service, record, name, root))
    answer(exchange, record)
  })
  router.add('POST', '/sandbox/:sandbox/fork', async (exchange) => {
    const parent = open(exchange)
    const { name } = await readApiJson<{ name: string }>(exchange)
    const child = forkedRecord(parent, name, createContext(service, parent.organizationId))
    assertNameFree(service, child)
    service.lifecycle.fork(parent, child)
    service.sandboxes.add(child)
    answer(exchange, child)
  })
}

async function createSandbox(exchange: Exchange, service: DaytonaService, organizationId: string): Promise<void> {
  const body = await readApiJson<CreateSandboxBody>(exchange)
  const record = newSandboxRecord(body, createContext(service, organizationId))
  exchange.record.sandboxId = record.id
  assertNameFree(service, record)
  assertQuota(service, organizationId)
  service.sandboxes.add(record)
  const snapshot = service.snapshots.find(record.snapshot ?? '', organizationId)
  const before: TransitionStep[] = record.buildInfo
    ? [{ through: 'pending_build' }, { through: 'building_snapshot' }]
    : service.knobs.transitionMs.pulling_snapshot > 0
      ? [{ through: 'pulling_snapshot' }]
      : []
  service.lifecycle.launch(record, before, () => createRoots(record.roots, snapshot?.filesDir ?? undefined))
  service.onCreated(record)
  // The request is held until the sandbox runs; the answer is what it began as all the same [A190].
  const dto = service.dto(record)
  if (!record.buildInfo) await holdUntilStarted(record, service.knobs.createHoldMs)
  if (record.state === 'error') throw apiError(400, `Sandbox failed to start: ${record.errorReason ?? 'unknown'}`)
  exchange.json(200, dto)
}

async function holdUntilStarted(record: SandboxRecord, holdMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, holdMs)
    timer.unref()
  })
  await Promise.race([record.job?.done, deadline])
  clearTimeout(timer)
}

function createContext(service: DaytonaService, organizationId: string): CreateContext {
  return {
    organizationId,
    baseDir: service.baseDir,
    now: service.now(),
    sandboxClass: service.knobs.sandboxClass,
    snapshots: service.snapshots,
  }
}

function assertNameFree(service: DaytonaService, record: SandboxRecord): void {
  if (service.sandboxes.findByName(record.name, record.organizationId))
    throw apiError(409, `Sandbox with name ${record.name} already exists`)
}

/** Stopped sandboxes count, archived ones do not. */
function assertQuota(service: DaytonaService, organizationId: string): void {
  const counted = service.sandboxes.list(organizationId).filter((record) => record.state !== 'archived')
  if (counted.length < service.knobs.maxSandboxes) return
  throw apiError(403, `Sandbox quota exceeded. Maximum allowed: ${service.knobs.maxSandboxes}`)
}
