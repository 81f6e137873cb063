import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { HoldfastStores, SandboxProvider } from '@holdfast/core'
import type { ChatRoutes } from '@holdfast/middleware'
import { crashApp, crashStores, eventsOf, sendRequest } from './crash-app.mjs'
import { crashProvider } from './crash-provider.mjs'
import type { ProviderChoice } from './crash-provider.mjs'
import { lifeOfHost } from './host-life.ts'
import type { CrashPlan, ShownEvent } from './host-life.ts'

/** The program of a first host. */
export const PROGRAM = fileURLToPath(new URL('./crash-host.mjs', import.meta.url))

export interface SecondHost {
  url: string
  stores: HoldfastStores
  provider: SandboxProvider
  choice: ProviderChoice
  routes: ChatRoutes
  /** Whether each run is saved when it ends. */
  savesCheckpoints: boolean
}

/** The host in this process, which goes on where the first ones died. */
export async function openSecondHost(
  url: string,
  choice: ProviderChoice,
  { savesCheckpoints = false } = {},
): Promise<SecondHost> {
  const stores = crashStores(url)
  const provider = await crashProvider(choice)
  return { url, stores, provider, choice, routes: crashApp(stores, provider, { savesCheckpoints }), savesCheckpoints }
}

export interface CrashResult {
  /** What the viewer saw, on both hosts together. */
  events: ShownEvent[]
  /** Store and provider calls of a host that lived. */
  calls: string[] | undefined
  /** How the first host ended. */
  exit: 'lived' | 'died'
}

/** Runs a host, ends it as planned, and lets its viewer come back to the second host until the run is over. */
export async function crashRound(second: SecondHost, threadId: string, plan: CrashPlan): Promise<CrashResult> {
  const runId = `${threadId}-run`
  const { url, choice: provider, savesCheckpoints } = second
  const life = await lifeOfHost(PROGRAM, { url, provider, savesCheckpoints, runId, threadId, crash: plan.crash }, plan)
  const result: CrashResult = {
    events: life.events,
    calls: life.calls,
    exit: life.calls === undefined ? 'died' : 'lived',
  }
  await rejoin(second, { runId, threadId }, result)
  return result
}

/** How often a viewer comes back before it is given up. */
const MAX_JOINS = 20
const RETRY_MS = 500

/** What a browser does: joins where it was; who has seen nothing sends the same message again. */
export async function rejoin(
  { routes }: SecondHost,
  ids: { runId: string; threadId: string },
  result: CrashResult,
): Promise<void> {
  for (let join = 0; join < MAX_JOINS && !isOver(result.events); join += 1) {
    const last = result.events.findLast(({ offset }) => offset !== undefined)?.offset
    const request = last === undefined ? sendRequest(ids.runId, ids.threadId) : joinRequest(ids.runId, last)
    const answer = await routes.handle(request)
    // A thread or a run that is held for a moment: a person tries again a little later.
    if (answer.status === 409) await wait(RETRY_MS)
    else for await (const event of eventsOf(answer)) result.events.push(event)
  }
}

function joinRequest(runId: string, offset: string): Request {
  return new Request(`http://crash/api/chat?runId=${runId}`, { headers: { 'Last-Event-ID': offset } })
}

function isOver(events: CrashResult['events']): boolean {
  const last = events.at(-1)?.chunk
  if (last?.type === 'RUN_ERROR') return true
  const extras: unknown = Reflect.get(last ?? {}, 'metadata')
  return last?.type === 'RUN_FINISHED' && !JSON.stringify(extras ?? {}).includes('tool_calls')
}
