import { reapRuns } from '@holdfast/middleware'
import { isExpectedRefusal } from './expected-refusals.ts'
import type { SimHost } from './sim-host.ts'
import { codeOf } from './sim-world.ts'
import type { SimWorld } from './sim-world.ts'

/** A run that nobody has watched for this long is ended. */
const DETACHED_TTL_MS = 120_000

/** What may go wrong with a sandbox that is to be destroyed: it is tried again. */
const PROVIDER_FAILURES: ReadonlySet<string> = new Set([
  'PROVIDER_UNAVAILABLE',
  'PROVIDER_TIMEOUT',
  'SANDBOX_DESTROY_FAILED',
])

/** One reap, as a schedule on this host makes it. It never rejects, and fails at nothing but the weather. */
export function reapOn(world: SimWorld, host: SimHost): Promise<void> {
  const { stores, sandbox, driver } = host.parts
  world.note(`${host.name} begins to reap`)
  const reaped = reapRuns({ stores, sandbox, driver, detachedTtlMs: DETACHED_TTL_MS, clock: host.clock }).then(
    ({ runs, sandboxes, errors }) => {
      const all = [...runs, ...sandboxes]
      world.note(`${host.name} has reaped ${all.map(({ outcome }) => outcome).join(' ') || 'nothing'}`)
      for (const { code = '', message } of [...errors, ...all.flatMap(({ error }) => error ?? [])]) {
        if (isExpectedRefusal(code) || PROVIDER_FAILURES.has(code)) continue
        world.fault(`a reap on ${host.name} failed with ${code} ${message}`)
      }
    },
    (error: unknown) => world.fault(`a reap on ${host.name} rejected with ${codeOf(error)}`),
  )
  return world.expectEnd(host, `reap on ${host.name}`, reaped)
}
