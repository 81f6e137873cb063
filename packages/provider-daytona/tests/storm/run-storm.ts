import { startDaytonaServer } from '@holdfast/testing/daytona'
import type { DaytonaServer } from '@holdfast/testing/daytona'
import { daytonaProvider } from '../../src/index.ts'
import { SeededRandom } from './seeded-random.ts'
import { StormFault, StormLease } from './storm-lease.ts'

export interface StormInput {
  seed: number
  operations: number
  /** Default 20. */
  leases?: number
  /** Share of requests that go wrong. Default 0.08. */
  rate?: number
}

/** Input cannot be told from a page that answers 200, since the service answers it with nothing. */
const EXCEPT = ['POST /process/session/:session/command/:command/input']

/** Random operations on many leases under random faults. Answers how often each came to which end; a fault rejects. */
export async function runStorm(input: StormInput): Promise<Record<string, number>> {
  const { seed, operations, leases: leaseCount = 20, rate = 0.08 } = input
  const server = await startDaytonaServer({ seed, logIdleMs: 50, sessionGraceMs: 500, logFrameBytes: 'random' })
  const provider = daytonaProvider({
    apiUrl: server.url,
    apiKey: server.apiKey,
    target: 'us',
    livenessTimeoutMs: 20_000,
  })
  try {
    const leases = Array.from(
      { length: leaseCount },
      (_, index) => new StormLease(`storm-${seed}-${index}`, provider, server, new SeededRandom(seed * 1_000 + index)),
    )
    server.configure({ randomFaults: { rate, except: EXCEPT, kinds: KINDS } })
    const outcomes: Record<string, number> = {}
    let left = operations
    await Promise.all(
      leases.map(async (lease) => {
        while (left > 0) {
          left -= 1
          const outcome = await lease.step()
          outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
        }
      }),
    )
    server.clearFaults()
    for (const lease of leases) await lease.finish()
    await assertNothingHeld(server)
    return outcomes
  } finally {
    await provider.close?.()
    await server.close()
  }
}

const KINDS = [
  'lost-reply',
  'drop',
  'delay',
  'server-error',
  'html',
  'rate-limit',
  'conflict',
  'socket-cut',
  'download-cut',
] as const

async function assertNothingHeld(server: DaytonaServer): Promise<void> {
  for (const { sandboxId } of server.sandboxes()) await server.settled(sandboxId)
  const held = server.sandboxes()
  if (held.length > 0)
    throw new StormFault(`${held.length} sandboxes leaked: ${held.map(({ name }) => name).join(', ')}`)
}
