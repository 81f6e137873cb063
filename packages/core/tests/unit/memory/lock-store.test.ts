import { expect, test } from 'vitest'
import { MemoryLockStore, MemoryState } from '../../../src/index.ts'
import { ManualClock } from '../../support/manual-clock.ts'

function gate(): { open: () => void; opened: Promise<void> } {
  let open: () => void = () => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { open, opened }
}

test('waiters are served in the order they came, one at a time, with growing tokens', async () => {
  const locks = new MemoryLockStore()
  const seen: number[] = []
  const tokens: number[] = []
  let running = 0
  const work = [...Array(20).keys()].map((index) =>
    locks.withLock('k', async (signal, lease) => {
      running += 1
      expect(running).toBe(1)
      expect(signal.aborted).toBe(false)
      await Promise.resolve()
      seen.push(index)
      tokens.push(lease?.token ?? 0)
      running -= 1
    }),
  )
  await Promise.all(work)
  expect(seen).toEqual([...Array(20).keys()])
  expect(tokens).toEqual([...tokens].sort((a, b) => a - b))
  expect(new Set(tokens).size).toBe(20)
})

test('a callback that fails frees the lock and rejects with its own error', async () => {
  const locks = new MemoryLockStore()
  await expect(locks.withLock('k', () => Promise.reject(new Error('mine')))).rejects.toThrow('mine')
  await expect(
    locks.withLock('k', () => {
      throw new Error('sync')
    }),
  ).rejects.toThrow('sync')
  expect(await locks.withLock('k', () => Promise.resolve(1), { waitMs: 0 })).toBe(1)
})

test('waiting ends after waitMs, on abort and on close, and never takes a turn', async () => {
  const clock = new ManualClock()
  const state = new MemoryState({ clock })
  const locks = new MemoryLockStore(state)
  const { open, opened } = gate()
  const holder = locks.withLock('k', () => opened)
  const calls: string[] = []
  const wait = (name: string, options: object) => locks.withLock('k', async () => void calls.push(name), options)
  const late = wait('late', { waitMs: 100 })
  const controller = new AbortController()
  const aborted = wait('aborted', { signal: controller.signal, waitMs: 500 })
  await expect(wait('never', { signal: AbortSignal.abort('before') })).rejects.toBe('before')
  clock.advance(100)
  await expect(late).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' })
  controller.abort('stop')
  await expect(aborted).rejects.toBe('stop')
  expect(clock.pendingTimers).toBe(0)
  const served = wait('served', {})
  open()
  await Promise.all([holder, served])
  expect(calls).toEqual(['served'])
  const second = gate()
  const last = locks.withLock('k', () => second.opened)
  const closing = expect(wait('closed', {})).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  await Promise.resolve()
  state.close()
  await closing
  second.open()
  await last
  await expect(wait('after', {})).rejects.toMatchObject({ code: 'STORE_CLOSED' })
})

test('different keys do not wait for each other', async () => {
  const locks = new MemoryLockStore()
  await locks.withLock('a', () => locks.withLock('b', () => Promise.resolve()))
})
