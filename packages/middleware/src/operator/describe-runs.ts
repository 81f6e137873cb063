import type { DriverInfo, HoldfastStores, RunRecord, SandboxInstanceRecord } from '@holdfast/core'

/** Which runs an operator wants to see. */
export interface DescribeRunsInput {
  stores: HoldfastStores
  threadId?: string
  status?: RunRecord['status']
  /** 1 … 1,000. */
  limit: number
}

/** One run as an operator wants to see it. */
export interface RunDescription extends RunRecord {
  /** Whose thread it is; null when the thread is gone. */
  ownerId: string | null
  /** Null when it was never claimed, or the store cannot tell. */
  driver: Pick<DriverInfo, 'owner' | 'epoch' | 'expiresAt' | 'isLive'> | null
  /** It runs, and the lease of its host has ended. */
  isOrphaned: boolean
  /** The sandboxes that this run used last. */
  sandboxes: Pick<SandboxInstanceRecord, 'key' | 'provider' | 'providerSandboxId' | 'state' | 'updatedAt'>[]
}

/** Runs of all tenants, newest first, with who drives them and what they use. */
export async function describeRuns({ stores, ...filter }: DescribeRunsInput): Promise<RunDescription[]> {
  return describeRecords(stores, await stores.drivers.list(filter))
}

/** Null for an unknown run. */
export async function describeRun(stores: HoldfastStores, runId: string): Promise<RunDescription | null> {
  const record = await stores.runs.get(runId)
  if (record === null) return null
  const [description = null] = await describeRecords(stores, [record])
  return description
}

async function describeRecords(stores: HoldfastStores, records: readonly RunRecord[]): Promise<RunDescription[]> {
  const found = await stores.drivers.findDrivers?.({ runIds: records.map(({ runId }) => runId) })
  const drivers = new Map(found?.map((driver) => [driver.runId, driver]))
  const threads = new Map<string, ThreadFacts>()
  for (const { threadId } of records) {
    if (!threads.has(threadId)) threads.set(threadId, await threadFacts(stores, threadId))
  }
  return records.map((record) => describe(record, drivers.get(record.runId), threads.get(record.threadId)))
}

interface ThreadFacts {
  ownerId: string | null
  rows: SandboxInstanceRecord[]
}

async function threadFacts({ threads, instances }: HoldfastStores, threadId: string): Promise<ThreadFacts> {
  const thread = await threads.find(threadId)
  const page = await instances.list?.({ threadId })
  return { ownerId: thread?.ownerId ?? null, rows: page?.records ?? [] }
}

function describe(record: RunRecord, driver: DriverInfo | undefined, facts: ThreadFacts | undefined): RunDescription {
  const rows = (facts?.rows ?? []).filter((row) => row.latestRunId === record.runId)
  return {
    ...record,
    ownerId: facts?.ownerId ?? null,
    driver: driver === undefined ? null : driverFacts(driver),
    isOrphaned: record.status === 'running' && driver?.isLive === false,
    sandboxes: rows.map(({ key, provider, providerSandboxId, state = 'ready', updatedAt }) => ({
      key,
      provider,
      providerSandboxId,
      state,
      updatedAt,
    })),
  }
}

function driverFacts({ owner, epoch, expiresAt, isLive }: DriverInfo): RunDescription['driver'] {
  return { owner, epoch, expiresAt, isLive }
}
