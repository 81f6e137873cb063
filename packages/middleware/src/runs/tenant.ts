/** On whose behalf a request acts, as `authorize` found out. Part of the sandbox key. */
export interface Tenant {
  userId?: string
  orgId?: string
}

/** Owner of threads where an app has no users. */
const SINGLE_USER = 'local'

/** The key under which a tenant's threads are stored. Different tenants never share one. */
export function ownerIdOf(tenant: Tenant): string {
  if (tenant.userId === undefined && tenant.orgId === undefined) return SINGLE_USER
  return JSON.stringify([tenant.orgId ?? null, tenant.userId ?? null])
}

/** The tenant that an owner id was made from. An owner id of another making belongs to no known user. */
export function tenantOf(ownerId: string): Tenant {
  if (ownerId === SINGLE_USER) return {}
  const [orgId, userId] = parseOwner(ownerId)
  return { ...(typeof userId === 'string' ? { userId } : {}), ...(typeof orgId === 'string' ? { orgId } : {}) }
}

function parseOwner(ownerId: string): unknown[] {
  try {
    const parsed: unknown = JSON.parse(ownerId)
    return Array.isArray(parsed) ? parsed : []
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}
