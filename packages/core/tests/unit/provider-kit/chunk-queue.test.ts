import { expect, test } from 'vitest'
import { ChunkQueue } from '../../../src/provider-kit/index.ts'

async function collect<T>(queue: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of queue) items.push(item)
  return items
}

test('a second reader is refused', async () => {
  const queue = new ChunkQueue<number>()
  queue.end()
  await collect(queue)
  expect(() => queue[Symbol.asyncIterator]()).toThrow(TypeError)
})

test('a failure comes after the items that were pushed before it', async () => {
  const queue = new ChunkQueue<number>()
  queue.push(1)
  queue.fail(new Error('lost'))
  queue.push(2)
  const reader = queue[Symbol.asyncIterator]()
  expect(await reader.next()).toEqual({ done: false, value: 1 })
  await expect(reader.next()).rejects.toThrow('lost')
  expect(await reader.next()).toEqual({ done: true, value: undefined })
})

test('a failure settles every waiting reader', async () => {
  const reader = new ChunkQueue<number>()
  const iterator = reader[Symbol.asyncIterator]()
  const waiting = Promise.allSettled([iterator.next(), iterator.next()])
  reader.fail(new Error('lost'))
  const [first, second] = await waiting
  expect(first.status).toBe('rejected')
  expect(second).toMatchObject({ status: 'fulfilled', value: { done: true } })
})

test('items arrive in order whether pushed before or after the reader asks', async () => {
  const queue = new ChunkQueue<number>()
  queue.push(1)
  const all = collect(queue)
  await Promise.resolve()
  queue.push(2)
  queue.push(3)
  queue.end()
  queue.end()
  expect(await all).toEqual([1, 2, 3])
})

test('a full queue keeps the item and tells the writer to wait', async () => {
  const queue = new ChunkQueue<number>({ bound: 2 })
  expect(queue.push(1)).toBe(true)
  expect(queue.push(2)).toBe(false)
  expect(queue.push(3)).toBe(false)
  let hasRoom = false
  const drained = queue.drained().then(() => (hasRoom = true))
  const reader = queue[Symbol.asyncIterator]()
  await reader.next()
  expect(hasRoom).toBe(false)
  await reader.next()
  await drained
  queue.end()
  expect(await reader.next()).toEqual({ done: false, value: 3 })
})

test('a reader that leaves releases the writer', async () => {
  const queue = new ChunkQueue<number>({ bound: 1 })
  queue.push(1)
  const drained = queue.drained()
  for await (const item of queue) {
    expect(item).toBe(1)
    queue.push(2)
    break
  }
  await drained
  expect(queue.push(3)).toBe(true)
  expect(queue.size).toBe(0)
})
