import type { EventLog, HoldfastStores } from '@holdfast/core'
import type { StreamChunk } from '@tanstack/ai'
import { finishReasonOf } from './final-event.ts'
import type { SimWorld } from './sim-world.ts'

interface RunHistory {
  /** Epoch of the last accepted write. */
  epoch: number
  /** What the claim of each epoch was for. */
  readonly purposes: Map<number, 'drive' | 'finalize'>
  finished: string | undefined
  isClosed: boolean
}

/** Called when a host has recorded the end of a run that it had claimed for `purpose`. */
export type OnFinish = (runId: string, status: string, purpose: 'drive' | 'finalize' | undefined) => Promise<void>

/** The stores themselves, with a record of what they accepted, checked as it happens. */
export function observedStores(world: SimWorld, base: HoldfastStores, onFinish: OnFinish): HoldfastStores {
  const runs = new Map<string, RunHistory>()
  const historyOf = (runId: string): RunHistory => {
    const history = runs.get(runId) ?? { epoch: 0, purposes: new Map(), finished: undefined, isClosed: false }
    runs.set(runId, history)
    return history
  }
  const accept = (runId: string, epoch: number | undefined, what: string): void => {
    const history = historyOf(runId)
    if (epoch === undefined) world.fault(`${what} of ${runId} was accepted without an epoch`)
    else if (epoch < history.epoch) world.fault(`${what} of ${runId} under epoch ${epoch} came after ${history.epoch}`)
    else history.epoch = epoch
    world.note(`store takes ${what} of ${runId} epoch ${epoch ?? 'none'}`)
  }
  const { drivers, eventLog, messages } = base
  const over = <T extends object>(store: T, methods: Partial<T>): T => overriding(store, methods)
  return {
    ...base,
    drivers: over(drivers, {
      async claim(input) {
        const claim = await drivers.claim(input)
        historyOf(input.runId).purposes.set(claim.epoch, input.purpose ?? 'drive')
        accept(input.runId, claim.epoch, 'claim')
        return claim
      },
      async finish(input) {
        const { runId, epoch, status } = input
        const history = historyOf(runId)
        const isFirst = await drivers.finish(input)
        if (!isFirst) return false
        accept(runId, epoch, `finish ${status}`)
        if (history.finished !== undefined && history.finished !== 'interrupted') {
          world.fault(`run ${runId} ended twice: ${history.finished}, then ${status}`)
        }
        history.finished = status
        await onFinish(runId, status, history.purposes.get(epoch))
        return true
      },
    }),
    eventLog: over(eventLog, {
      open: (input) =>
        observedLog(eventLog.open(input), {
          append: (chunks) => {
            accept(input.runId, input.epoch, `append ${chunks.map(shortName).join(' ')}`)
            if (historyOf(input.runId).isClosed) world.fault(`the closed log of ${input.runId} grew`)
          },
          close: () => {
            historyOf(input.runId).isClosed = true
          },
        }),
    }),
    messages: over(messages, {
      async saveThread(threadId, list, fence) {
        await messages.saveThread(threadId, list, fence)
        if (fence !== undefined) accept(fence.runId, fence.epoch, `transcript (${list.length})`)
      },
    }),
  }
}

/** `store` with some of its methods replaced. */
export function overriding<T extends object>(store: T, methods: Partial<T>): T {
  return new Proxy(store, {
    get(target, key) {
      const own: unknown = Reflect.get(methods, key)
      if (own !== undefined) return own
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

function observedLog(log: EventLog, on: { append: (chunks: StreamChunk[]) => void; close: () => void }): EventLog {
  return overriding(log, {
    async append(chunks) {
      const offsets = await log.append(chunks)
      on.append(chunks)
      return offsets
    },
    async close() {
      await log.close()
      on.close()
    },
  })
}

function shortName(chunk: StreamChunk): string {
  const finishReason = finishReasonOf(chunk)
  return typeof finishReason === 'string' ? `${chunk.type}(${finishReason})` : chunk.type
}
