import { Daytona } from '@daytonaio/sdk'
import { startDaytonaServer } from '@holdfast/testing/daytona'
import type { DaytonaServer } from '@holdfast/testing/daytona'
import { createDaytonaLeases, daytonaProvider } from '../src/index.ts'
import { naiveJobs } from './naive-jobs.ts'

const LATENCY_MS = 20
const OWNER = { key: 'bench' }

/** Most requests that a job may take. */
const BUDGETS: Readonly<Record<string, number>> = { 'short exec': 1, 'streamed exec': 4 }

interface Measured {
  requests: number
  ms: number
}

/** Requests and time of the usual jobs, beside a naive use of the SDK, in one run on the local server. */
export async function benchExec(): Promise<void> {
  const server = await startDaytonaServer({ latencyMs: LATENCY_MS })
  const account = { apiUrl: server.url, apiKey: server.apiKey, target: 'us' }
  const leases = createDaytonaLeases(account)
  const lease = await leases.acquire(OWNER)
  const client = new Daytona({ ...account, useDeprecatedPolling: true })
  const plain = await client.create({})
  const context = { cwd: lease.workspaceRoot, env: {}, stdin: new Uint8Array() }
  const files = Array.from({ length: 100 }, (_, i) => ({ path: `f${i}`, data: Buffer.from(`bytes ${i}`) }))
  const onStdout = (): void => undefined
  const jobs: Record<string, () => Promise<unknown>> = {
    'short exec': () => lease.handle.exec('echo out; echo err >&2', context),
    'streamed exec': () =>
      lease.handle.exec('for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.1; done', { ...context, onStdout }),
    '1,000 lines': () => lease.handle.exec('seq 1 1000', { ...context, onStdout }),
    '100-file sync': async () => {
      await lease.files.writeAll(files)
      await lease.files.readAll(files.map(({ path }) => path))
    },
    resume: async () => {
      const provider = daytonaProvider(account)
      await provider.resume({ id: lease.sandboxId })
      await provider.close?.()
    },
  }
  const naive: Record<string, () => Promise<unknown>> = {
    ...Object.fromEntries(Object.entries(naiveJobs).map(([name, job]) => [name, () => job(plain)])),
    resume: () => client.get(plain.id),
  }
  await lease.handle.exec('true', context)
  console.log(
    '| job | requests | naive requests | fewer | ms | naive ms | budget | |\n|---|--:|--:|--:|--:|--:|---|---|',
  )
  const missed: string[] = []
  for (const [name, job] of Object.entries(jobs)) {
    const ours = await measure(server, job)
    const theirs = await measure(server, naive[name] ?? (() => Promise.resolve()))
    const holds = ours.requests <= (BUDGETS[name] ?? Infinity)
    if (!holds) missed.push(`${name} takes ${ours.requests} requests`)
    console.log(`| ${[name, ...compared(ours, theirs), ...budgetOf(name, holds)].join(' | ')} |`)
  }
  await leases.close()
  await server.close()
  console.log(missed.length === 0 ? 'ok: every budget holds' : `falls short: ${missed.join('; ')}`)
  process.exitCode = missed.length === 0 ? 0 : 1
}

function compared(ours: Measured, theirs: Measured): (string | number)[] {
  const fewer = `${(theirs.requests / ours.requests).toFixed(1)} ×`
  return [ours.requests, theirs.requests, fewer, ours.ms, theirs.ms]
}

function budgetOf(name: string, holds: boolean): string[] {
  const most = BUDGETS[name]
  return most === undefined ? ['', ''] : [`requests ≤ ${most}`, holds ? 'holds' : '**missed**']
}

async function measure(server: DaytonaServer, job: () => Promise<unknown>): Promise<Measured> {
  const before = server.requests.count()
  const startedAt = performance.now()
  await job()
  return { requests: server.requests.count() - before, ms: Math.round(performance.now() - startedAt) }
}
