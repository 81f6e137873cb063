import type { FencedLockStore } from '@holdfast/core'
import { soon } from './soon.ts'

export interface HeldLock {
  readonly signal: AbortSignal
  readonly token: number
  /** Ends the callback; resolves when withLock has. */
  letGo: () => Promise<void>
}

/** Takes the lock and stays in its callback until told otherwise. */
export async function heldLock(locks: FencedLockStore, key: string): Promise<HeldLock> {
  let end: () => void = () => {}
  const mayEnd = new Promise<void>((resolve) => (end = resolve))
  let done: Promise<void> = Promise.resolve()
  const entered = new Promise<{ signal: AbortSignal; token: number }>((resolve, reject) => {
    done = locks.withLock(key, (signal, lease) => {
      resolve({ signal, token: lease?.token ?? 0 })
      return mayEnd
    })
    done.catch(reject)
  })
  const { signal, token } = await soon(entered, `entry under the lock ${key}`)
  const letGo = (): Promise<void> => {
    end()
    return soon(done, `the end of the lock ${key}`)
  }
  return { signal, token, letGo }
}
