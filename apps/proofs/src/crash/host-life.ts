import { fork } from 'node:child_process'
import type { StreamChunk } from '@tanstack/ai'
import type { Crash } from './call-points.mjs'

export interface CrashPlan {
  name: string
  /** Dies by itself at this call. */
  crash?: Crash
  /** Is killed from outside after this long. */
  killAfterMs?: number
}

export interface ShownEvent {
  offset: string | undefined
  chunk: StreamChunk
}

export interface HostLife {
  /** What its viewer saw. */
  readonly events: ShownEvent[]
  /** Store and provider calls of a host that lived. */
  readonly calls: string[] | undefined
}

interface HostMessage {
  started?: boolean
  event?: ShownEvent
  done?: boolean
  calls?: string[]
}

/** Starts a host with its order, and resolves when it has ended. Rejects when it ended otherwise than planned. */
export function lifeOfHost(program: string, order: object, plan: CrashPlan): Promise<HostLife> {
  // A test runner's own flags are not for it: it runs what was built.
  const child = fork(program, [JSON.stringify(order)], { execArgv: [], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  return new Promise((resolve, reject) => {
    let errors = ''
    let calls: string[] | undefined
    let timer: NodeJS.Timeout | undefined
    const events: ShownEvent[] = []
    child.stderr?.on('data', (data: Buffer) => (errors += data.toString()))
    child.on('message', (message: HostMessage) => {
      if (message.started === true && plan.killAfterMs !== undefined) {
        timer = setTimeout(() => child.kill('SIGKILL'), plan.killAfterMs)
      }
      if (message.event !== undefined) events.push(message.event)
      if (message.done === true) calls = message.calls
    })
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      clearTimeout(timer)
      if (code === 0 || signal === 'SIGKILL') resolve({ events, calls })
      else reject(new Error(`The host ended with ${code ?? signal}.\n${errors}`))
    })
  })
}
