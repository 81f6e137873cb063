import type { DriverClaim, DriverClaimInput, DriverStore, HoldfastStores, RunRecord } from '@holdfast/core'
import type { StoreSubject } from '../store-subject.ts'
import { required } from './required.ts'

export const TTL_MS = 30_000

/** A claim with everything that a case does not care about filled in. */
export function claimInput(input: Partial<DriverClaimInput> = {}): DriverClaimInput {
  return { runId: 'run-1', threadId: 'thread-1', owner: 'host-a', ttlMs: TTL_MS, ...input }
}

export function claim(drivers: DriverStore, input: Partial<DriverClaimInput> = {}): Promise<DriverClaim> {
  return drivers.claim(claimInput(input))
}

export async function recordOf({ runs }: HoldfastStores, runId = 'run-1'): Promise<RunRecord> {
  return required(await runs.get(runId), `the record of ${runId}`)
}

/** The subject's own stores and further ones on other connections, `count` in all. */
export async function hostsOf(subject: StoreSubject, count: number): Promise<HoldfastStores[]> {
  const connect = required(subject.connect, 'connect')
  const others = await Promise.all(Array.from({ length: count - 1 }, () => connect()))
  return [subject.stores, ...others]
}

/** The `index`th of some hosts, around and around. */
export function hostAt(hosts: readonly HoldfastStores[], index: number): HoldfastStores {
  return required(hosts[index % hosts.length], 'a host')
}
