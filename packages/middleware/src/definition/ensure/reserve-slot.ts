import { RefusedError } from '@holdfast/core'
import { canonicalHash } from '../canonical-json.ts'
import type { Step } from '../run-steps.ts'
import type { SandboxBuild } from './sandbox-build.ts'

/** Which sandbox keys a tenant has, by definition and tenant. A key whose row is gone counts no longer. */
const NAMESPACE = 'holdfast-sandbox-slots'

/**
 * Refuses a sandbox beyond the tenant's limit with `LIMIT_EXCEEDED`. The row that takes the slot is written under the same
 * lock, so that any number of hosts together never make more.
 */
export const reserveSlot: Step<SandboxBuild> = {
  name: 'reserve slot',
  async run(build) {
    const { maxSandboxes } = build.definition
    if (maxSandboxes === undefined) return
    const { userId, orgId } = build.context.tenant ?? {}
    const slotsKey = canonicalHash({ app: build.definition.id, userId, orgId })
    await build.locks.withLock(`sandboxes:${slotsKey}`, async () => {
      const others = await otherSlots(build, slotsKey, maxSandboxes)
      if (others.length >= maxSandboxes) throw tooMany(maxSandboxes)
      await build.metadata.set(NAMESPACE, slotsKey, [...others, build.key])
      await build.store.upsert(build.row('intent', build.key))
    })
  },
}

/** Rows are looked up only when the limit seems reached. */
async function otherSlots({ metadata, store, key }: SandboxBuild, slotsKey: string, limit: number): Promise<string[]> {
  const slots = ((await metadata.get(NAMESPACE, slotsKey)) as string[] | null) ?? []
  const others = slots.filter((slot) => slot !== key)
  if (others.length < limit) return others
  const rows = await Promise.all(others.map((slot) => store.get(slot)))
  return others.filter((_slot, index) => rows[index] !== null)
}

function tooMany(limit: number): RefusedError {
  const message = `This tenant has ${limit} sandboxes already; delete a thread, or wait until one is reclaimed.`
  return new RefusedError('LIMIT_EXCEEDED', message, { details: { limit: 'maxSandboxes', max: limit } })
}
