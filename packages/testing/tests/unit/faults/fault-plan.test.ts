import { isHoldfastError } from '@holdfast/core'
import type { ErrorCode } from '@holdfast/core'
import { describe, expect, it } from 'vitest'
import { FakeClock, FaultPlan, memoryProvider } from '../../../src/index.ts'
import type { FaultRule } from '../../../src/index.ts'

function codeOf(promise: Promise<unknown>): Promise<ErrorCode | string> {
  return promise.then(
    () => 'no error',
    (error: unknown) => (isHoldfastError(error) ? error.code : String(error)),
  )
}

describe('FaultPlan', () => {
  it('a rule hits the nth call and as many after it as it says', async () => {
    const plan = new FaultPlan([{ on: 'fs.exists', do: 'fail', nth: 2, times: 2 }])
    const { fs } = await memoryProvider({ faults: plan }).create({})
    const outcomes: string[] = []
    for (let call = 0; call < 5; call += 1) outcomes.push(await codeOf(fs.exists('file')))
    expect(outcomes).toEqual(['no error', 'SANDBOX_UNREACHABLE', 'SANDBOX_UNREACHABLE', 'no error', 'no error'])
    expect(plan.calls('fs.exists')).toBe(5)
  })

  it('a rule added later counts calls from then on', async () => {
    const plan = new FaultPlan()
    const provider = memoryProvider({ faults: plan })
    await provider.create({})
    plan.add({ on: 'create', do: 'fail', code: 'PROVIDER_REFUSED', retryable: false })
    const error = await provider.create({}).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'PROVIDER_REFUSED', retryable: false, details: { operation: 'create' } })
    expect(await codeOf(provider.create({}))).toBe('no error')
  })

  it('a lost reply does the work, so that the next try adopts it', async () => {
    const plan = new FaultPlan([{ on: 'create', do: 'lose-reply' }])
    const provider = memoryProvider({ faults: plan })
    expect(await codeOf(provider.create({ id: 'key', labels: { app: 'a' } }))).toBe('PROVIDER_UNAVAILABLE')
    expect(await provider.list?.({ labels: { app: 'a' } })).toHaveLength(1)
    const adopted = await provider.create({ id: 'key', labels: { app: 'a' } })
    expect(adopted.id).toBe('key')
    expect(await provider.list?.({ labels: {} })).toHaveLength(1)
  })

  it('a hanging call does nothing and settles only when its signal aborts', async () => {
    const plan = new FaultPlan([{ on: 'create', do: 'hang' }])
    const provider = memoryProvider({ faults: plan })
    const controller = new AbortController()
    const reason = new Error('given up')
    const hanging = provider.create({ id: 'key', signal: controller.signal })
    const settled = await Promise.race([
      hanging.catch(() => 'settled'),
      new Promise((resolve) => setImmediate(() => resolve('pending'))),
    ])
    expect(settled).toBe('pending')
    controller.abort(reason)
    await expect(hanging).rejects.toBe(reason)
    expect(await provider.resume({ id: 'key' })).toBeNull()
  })

  it('a delay is measured by the given clock', async () => {
    const clock = new FakeClock()
    const plan = new FaultPlan([{ on: 'resume', do: 'delay', delayMs: 2_000 }], { clock })
    let answer: unknown = 'pending'
    const resuming = memoryProvider({ faults: plan })
      .resume({ id: 'nothing' })
      .then((handle) => (answer = handle))
    await clock.advance(1_999)
    expect(answer).toBe('pending')
    await clock.advance(1)
    await resuming
    expect(answer).toBeNull()
  })

  it('dropped output leaves the exit code and what the command did', async () => {
    const plan = new FaultPlan([
      { on: 'exec', do: 'drop-output' },
      { on: 'spawn', do: 'drop-output' },
    ])
    const sandbox = await memoryProvider({ faults: plan }).create({})
    const heard: string[] = []
    const result = await sandbox.process.exec('echo out; touch done; exit 3', { onStdout: (text) => heard.push(text) })
    expect([result, heard]).toEqual([{ stdout: '', stderr: '', exitCode: 3 }, []])
    expect(await sandbox.fs.exists('done')).toBe(true)
    const spawned = await sandbox.process.spawn('echo out; exit 4')
    const pieces: string[] = []
    for await (const piece of spawned.stdout) pieces.push(piece)
    expect([pieces, await spawned.wait()]).toEqual([[], 4])
  })

  it('a barrier holds calls until it is opened', async () => {
    const plan = new FaultPlan()
    const provider = memoryProvider({ faults: plan })
    const barrier = plan.barrier('create')
    let isCreated = false
    const creating = provider.create({ id: 'key' }).then(() => (isCreated = true))
    await barrier.reached
    expect([isCreated, await provider.resume({ id: 'key' })]).toEqual([false, null])
    barrier.open()
    barrier.open()
    await creating
    expect(await codeOf(provider.create({}))).toBe('no error')
  })

  it('a held call ends when its signal aborts', async () => {
    const plan = new FaultPlan()
    const barrier = plan.barrier('create')
    const controller = new AbortController()
    const creating = memoryProvider({ faults: plan }).create({ signal: controller.signal })
    await barrier.reached
    controller.abort(new Error('given up'))
    await expect(creating).rejects.toThrow('given up')
  })

  it('clear forgets every rule and opens every barrier', async () => {
    const plan = new FaultPlan([{ on: 'resume', do: 'fail', times: 99 }])
    const barrier = plan.barrier('create')
    const provider = memoryProvider({ faults: plan })
    const creating = provider.create({ id: 'key' })
    await barrier.reached
    plan.clear()
    expect((await creating).id).toBe('key')
    expect((await provider.resume({ id: 'key' }))?.id).toBe('key')
  })

  it('a plan is read from JSON, bare or under "rules"', async () => {
    const rules: FaultRule[] = [{ on: 'create', do: 'fail' }]
    for (const text of [JSON.stringify(rules), JSON.stringify({ rules })]) {
      const provider = memoryProvider({ faults: FaultPlan.fromJson(text) })
      expect(await codeOf(provider.create({}))).toBe('PROVIDER_UNAVAILABLE')
    }
  })

  it('a malformed plan is refused with every fault listed', () => {
    const bad = [
      { on: 'nothing', do: 'fail' },
      { on: 'create', do: 'explode', nth: 0 },
      { on: 'create', do: 'delay' },
      { on: 'fs.read', do: 'drop-output', code: 'NO_CODE', extra: 1 },
    ]
    let thrown: unknown
    try {
      FaultPlan.fromJson(JSON.stringify(bad))
    } catch (error) {
      thrown = error
    }
    expect(isHoldfastError(thrown, 'INVALID_CONFIGURATION')).toBe(true)
    expect((thrown as { details: { faults: string[] } }).details.faults).toHaveLength(7)
    for (const text of ['{', '"create"', '{"rules": 3}']) {
      expect(() => FaultPlan.fromJson(text), text).toThrow(TypeError)
    }
  })
})
