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
