import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { HoldfastStores, SandboxProvider } from '@holdfast/core'
import type { ChatRoutes } from '@holdfast/middleware'
import type { StreamChunk } from '@tanstack/ai'
import { eventsOf, sendRequest } from './crash-app.mjs'
import type { ProviderChoice } from './crash-provider.mjs'

/** The program of a first host. */
export const PROGRAM = fileURLToPath(new URL('./crash-host.mjs', import.meta.url))

export interface SecondHost {
  url: string
  stores: HoldfastStores
  provider: SandboxProvider
  choice: ProviderChoice
  routes: ChatRoutes
}

export interface CrashPlan {
  name: string
  /** Dies by itself at this call. */
  crash?: { call: number; when: 'before' | 'after'; as?: 'SIGKILL' | 'SIGSTOP' }
  /** Is killed from outside after this long. */
  killAfterMs?: number
}

export interface CrashResult {
  /** What the viewer saw, on both hosts together. */
  events: { offset: string | undefined; chunk: StreamChunk }[]
  /** Store and provider calls of a host that lived. */
  calls: string[] | undefined
  /** How the first host ended. */
  exit: 'lived' | 'died'
}

/** Runs a host, ends it as planned, and lets its viewer come back to the second host until the run is over. */
export async function crashRound(second: SecondHost, threadId: string, plan: CrashPlan): Promise<CrashResult> {
  const runId = `${threadId}-run`
  const order = { url: second.url, provider: second.choice, runId, threadId, crash: plan.crash }
  // A test runner's own flags are not for it: it runs what was built.
  const options = { execArgv: [], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] as ('ignore' | 'pipe' | 'ipc')[] }
  const child = fork(PROGRAM, [JSON.stringify(order)], options)
  const result: CrashResult = { events: [], calls: undefined, exit: 'died' }
  await lifeOf(child, plan, result)
  await rejoin(second, { runId, threadId }, result)
  return result
}

/** Resolves when the host has ended, or stands still. */
function lifeOf(child: ChildProcess, plan: CrashPlan, result: CrashResult): Promise<void> {
  return new Promise((resolve, reject) => {
    let errors = ''
    child.stderr?.on('data', (data: Buffer) => (errors += data.toString()))
    let timer: NodeJS.Timeout | undefined
    child.on('message', (message: HostMessage) => {
      if (message.started === true && plan.killAfterMs !== undefined) {
        timer = setTimeout(() => child.kill('SIGKILL'), plan.killAfterMs)
      }
      if (message.event !== undefined) result.events.push(message.event)
      if (message.done !== true) return
      result.calls = message.calls
      result.exit = 'lived'
    })
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      clearTimeout(timer)
      if (code !== 0 && signal !== 'SIGKILL') reject(new Error(`The host ended with ${code ?? signal}.\n${errors}`))
      else resolve()
    })
  })
}

interface HostMessage {
  started?: boolean
  event?: CrashResult['events'][number]
  done?: boolean
  calls?: string[]
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
