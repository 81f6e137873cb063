import type { SandboxListing } from '@holdfast/core'
import type { DaytonaAccount } from '../account/daytona-account.ts'
import { meaningOf } from './sandbox-states.ts'

const PAGE_SIZE = 100
/** Longest time for one page. */
const MAX_PAGE_REQUESTS_MS = 120_000

/** Every sandbox of the account that carries these labels, all pages read. The service's list lags behind by seconds. */
export async function listSandboxes(
  account: DaytonaAccount,
  labels: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<SandboxListing[]> {
  const timeoutMs = Math.max(account.livenessMs, MAX_PAGE_REQUESTS_MS)
  const found = await account.request(
    { operation: 'sandbox list', isRepeatable: true, timeoutMs, signal },
    async (client) => {
      const listings: SandboxListing[] = []
      for await (const sandbox of client.list({ labels: { ...labels }, limit: PAGE_SIZE })) {
        signal?.throwIfAborted()
        const createdAt = Date.parse(sandbox.createdAt ?? '')
        listings.push({
          sandboxId: sandbox.id,
          labels: { ...sandbox.labels },
          state: String(sandbox.state ?? 'unknown'),
          ...(Number.isNaN(createdAt) ? {} : { createdAt }),
        })
      }
      return listings
    },
  )
  return found.filter(({ state, labels: held }) => isHeld(state) && carries(held, labels))
}

function isHeld(state: string): boolean {
  return meaningOf(state) !== 'gone'
}

function carries(held: Readonly<Record<string, string>>, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(labels).every(([name, value]) => held[name] === value)
}
