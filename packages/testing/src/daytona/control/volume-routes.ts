import { randomUUID } from 'node:crypto'
import type { Router } from '../http/router.ts'
import { apiError } from '../http/wire-error.ts'
import { readApiJson } from './read-api-json.ts'
import type { OrganizationOf } from './sandbox-routes.ts'

interface Volume {
  id: string
  name: string
  organizationId: string
  state: 'ready'
  createdAt: string
  updatedAt: string
}

/** Volumes exist as records only: nothing is mounted. */
export function addVolumeRoutes(router: Router, now: () => number, organizationOf: OrganizationOf): void {
  const volumes = new Map<string, Volume>()
  const all = (organizationId: string): Volume[] =>
    [...volumes.values()].filter((volume) => volume.organizationId === organizationId)
  router.add('GET', '/volumes', (exchange) => exchange.json(200, all(organizationOf(exchange))))
  router.add('GET', '/volumes/by-name/:name', (exchange) => {
    const volume = all(organizationOf(exchange)).find((entry) => entry.name === exchange.param('name'))
    if (!volume) throw apiError(404, `Volume with name ${exchange.param('name')} not found`)
    exchange.json(200, volume)
  })
  router.add('POST', '/volumes', async (exchange) => {
    const organizationId = organizationOf(exchange)
    const { name = randomUUID() } = await readApiJson<{ name: string }>(exchange)
    if (all(organizationId).some((entry) => entry.name === name)) throw apiError(409, `Volume ${name} already exists`)
    const time = new Date(now()).toISOString()
    const volume: Volume = { id: randomUUID(), name, organizationId, state: 'ready', createdAt: time, updatedAt: time }
    volumes.set(volume.id, volume)
    exchange.json(200, volume)
  })
  router.add('DELETE', '/volumes/:volume', (exchange) => {
    if (volumes.get(exchange.param('volume'))?.organizationId !== organizationOf(exchange))
      throw apiError(404, `Volume ${exchange.param('volume')} not found`)
    volumes.delete(exchange.param('volume'))
    exchange.send(200)
  })
}
