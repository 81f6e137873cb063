import { apiError } from '../http/wire-error.ts'
import type { SandboxRecord } from './sandbox-record.ts'

export interface NetworkSettings {
  networkBlockAll?: boolean
  networkAllowList?: string
  domainAllowList?: string
}

const MAX_ENTRIES = 10
const CIDR = /^(\d{1,3}\.){3}\d{1,3}\/\d{1,2}$/

/** At most ten IPv4 ranges with a prefix length, at most ten domains [A190]. */
export function assertNetworkLists(settings: NetworkSettings): void {
  const ranges = entries(settings.networkAllowList)
  if (ranges.length > MAX_ENTRIES)
    throw apiError(400, `Network allow list cannot contain more than ${MAX_ENTRIES} networks`)
  const bad = ranges.find((range) => !CIDR.test(range))
  if (bad !== undefined) throw apiError(400, `Invalid network: "${bad}"; use IPv4 with a prefix length`)
  if (entries(settings.domainAllowList).length > MAX_ENTRIES)
    throw apiError(400, `Domain allow list cannot contain more than ${MAX_ENTRIES} domains`)
}

/** Blocking all clears the list of ranges; a list that is not empty ends the blocking; an empty one clears itself. */
export function applyNetworkSettings(record: SandboxRecord, settings: NetworkSettings): void {
  assertNetworkLists(settings)
  const { networkBlockAll, networkAllowList, domainAllowList } = settings
  if (networkBlockAll !== undefined) {
    record.networkBlockAll = networkBlockAll
    record.networkAllowList = null
  }
  if (networkAllowList !== undefined) record.networkAllowList = networkAllowList || null
  if (domainAllowList !== undefined) record.domainAllowList = domainAllowList || null
  if (networkAllowList || domainAllowList) record.networkBlockAll = false
}

function entries(list: string | undefined): string[] {
  return (list ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)
}
