import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { orAborted } from '../../../src/provider-kit/index.ts'
import { untilAborted } from '../../../src/provider-kit/journal/until-aborted.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
const never = new Promise<never>(() => undefined)

describe('orAborted', () => {
  test('gives what the work becomes, and leaves no listener', async () => {
    const { signal } = new AbortController()
    let listeners = 0
    const counted = new Proxy(signal, {
      get(target, name) {
        if (name === 'addEventListener') listeners += 1
        if (name === 'removeEventListener') listeners -= 1
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    expect(await orAborted(Promise.resolve(1), counted)).toBe(1)
    const failure = new Error('no')
    await expect(orAborted(Promise.reject(failure), counted)).rejects.toBe(failure)
    expect(listeners).toBe(0)
  })

  test('rejects with the reason of a signal that aborts first, also before', async () => {
    const reason = new Error('stop')
    const controller = new AbortController()
    const waiting = orAborted(never, controller.signal)
    controller.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    await expect(orAborted(never, AbortSignal.abort(reason))).rejects.toBe(reason)
    await expect(orAborted(Promise.reject(new Error('late')), AbortSignal.abort(reason))).rejects.toBe(reason)
  })
})

describe('untilAborted', () => {
  test('keeps nothing of what it has passed on', async () => {
    const passed: WeakRef<Uint8Array>[] = []
    async function* source(): AsyncGenerator<Uint8Array, void> {
      for (let index = 0; index < 50; index += 1) {
        const piece = new Uint8Array(64 * 1024)
        passed.push(new WeakRef(piece))
        yield piece
      }
    }
    let held = 0
    for await (const piece of untilAborted(source(), new AbortController().signal)) {
      expect(piece).toHaveLength(64 * 1024)
      if (passed.length < 50) continue
      await new Promise((resolve) => setImmediate(resolve))
      collectGarbage()
      held = passed.filter((ref) => ref.deref() !== undefined).length
    }
    expect(held).toBeLessThan(10)
  })
})
