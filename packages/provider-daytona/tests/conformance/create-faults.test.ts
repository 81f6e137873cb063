import { describe, expect, test } from 'vitest'
import { startDaytona } from '../daytona-fixture.ts'

const LABELS = { app: 'faults' }

describe('create', () => {
  test.each([
    ['the reply is lost', { kind: 'lost-reply' } as const],
    ['the connection drops', { kind: 'drop' } as const],
    ['a gateway answers 502', { kind: 'status', status: 502 } as const],
    ['the service asks to slow down', { kind: 'rate-limit', retryAfterSeconds: 1 } as const],
  ])('gives one sandbox when %s', { timeout: 30_000 }, async (_title, effect) => {
    const { server, provider } = await startDaytona()
    server.setFault({ on: 'POST /sandbox', effect })
    const sandbox = await provider.create({ id: 'key', labels: LABELS })
    expect((await sandbox.process.exec('echo ok')).stdout).toBe('ok\n')
    expect(server.sandboxes()).toHaveLength(1)
    await provider.destroy({ id: 'key' })
    await server.settled(sandbox.id)
    expect(server.sandboxes()).toHaveLength(0)
  })

  test('adopts what an earlier host left behind, and not what another owner made', async () => {
    const { server, provider, connect } = await startDaytona()
    const first = await provider.create({ id: 'key', labels: LABELS })
    const again = await connect().create({ id: 'key', labels: LABELS })
    expect(again.id).toBe(first.id)
    await expect(connect().create({ id: 'key', labels: { app: 'other' } })).rejects.toMatchObject({
      code: 'SANDBOX_FOREIGN',
    })
    expect(server.sandboxes()).toHaveLength(1)
  })

  test.each([
    ['the key is wrong', { kind: 'status', status: 401, body: { message: 'no' } } as const, 'PROVIDER_REFUSED'],
    ['the quota is used up', { kind: 'status', status: 403, body: { message: 'quota' } } as const, 'PROVIDER_REFUSED'],
    [
      'the snapshot is unknown',
      { kind: 'status', status: 400, body: { message: 'x' } } as const,
      'SANDBOX_CREATE_FAILED',
    ],
    ['the address is a web page', { kind: 'html' } as const, 'SANDBOX_CREATE_FAILED'],
    ['the service is down', { kind: 'status', status: 503 } as const, 'PROVIDER_UNAVAILABLE'],
  ])('leaves nothing when %s', { timeout: 30_000 }, async (_title, effect, code) => {
    const { server, provider } = await startDaytona()
    server.setFault({ on: 'POST /sandbox', effect, times: 100 })
    await expect(provider.create({ id: 'key', labels: LABELS })).rejects.toMatchObject({ code })
    expect(server.sandboxes()).toHaveLength(0)
  })

  test('leaves nothing when the sandbox fails to start', async () => {
    const { server, provider } = await startDaytona()
    server.failNext('creating', { reason: 'no space' } as never)
    await expect(provider.create({ id: 'key', labels: LABELS })).rejects.toMatchObject({
      code: 'SANDBOX_CREATE_FAILED',
    })
    await allGone(server)
  })

  test('leaves nothing when the sandbox cannot be prepared', { timeout: 30_000 }, async () => {
    const { server, provider } = await startDaytona()
    server.setFault({ on: 'POST /process/execute', effect: { kind: 'status', status: 502 }, times: 100 })
    await expect(provider.create({ id: 'key', labels: LABELS })).rejects.toMatchObject({
      code: expect.stringMatching(/SANDBOX_CREATE_FAILED|PROVIDER_UNAVAILABLE/),
    })
    await allGone(server)
  })

  test.each([10, 60, 200])('leaves nothing when it is aborted after %i ms', async (ms) => {
    const { server, provider } = await startDaytona({ transitionMs: { creating: 300 } })
    await provider.probe?.()
    const reason = new Error('no longer wanted')
    const stop = new AbortController()
    setTimeout(() => stop.abort(reason), ms)
    await expect(provider.create({ id: 'key', labels: LABELS, signal: stop.signal })).rejects.toBe(reason)
    await allGone(server)
  })

  test('says so when what it made could be neither prepared nor removed', { timeout: 60_000 }, async () => {
    const { server, provider } = await startDaytona({}, { livenessTimeoutMs: 1_000, timeoutMs: 3_000 })
    const undo = [
      server.setFault({ on: 'POST /process/execute', effect: { kind: 'status', status: 502 }, times: 100 }),
      server.setFault({ on: 'DELETE /sandbox/:sandbox', effect: { kind: 'status', status: 500 }, times: 100 }),
    ]
    await expect(provider.create({ id: 'key', labels: LABELS })).rejects.toMatchObject({
      code: 'SANDBOX_DESTROY_FAILED',
      details: { sandboxId: expect.any(String) },
    })
    for (const take of undo) take()
    await provider.destroy({ id: 'key' })
    await allGone(server)
  })
})

describe('destroy', () => {
  test.each([
    ['the reply is lost', { kind: 'lost-reply' } as const],
    ['a gateway answers 502', { kind: 'status', status: 502 } as const],
    ['a gateway answers with a page', { kind: 'html' } as const],
    ['another change is in progress', { kind: 'status', status: 409, body: { message: 'x' } } as const],
    ['an old service says the same with 400', { kind: 'status', status: 400, body: { message: 'x' } } as const],
  ])('removes the sandbox although %s', async (_title, effect) => {
    const { server, provider } = await startDaytona()
    const { id } = await provider.create({ id: 'key', labels: LABELS })
    server.setFault({ on: 'DELETE /sandbox/:sandbox', effect, times: 2 })
    await provider.destroy({ id })
    await allGone(server)
  })

  test('rejects when it could not find out, and works when it is repeated', { timeout: 30_000 }, async () => {
    const { server, provider } = await startDaytona()
    const { id } = await provider.create({ id: 'key', labels: LABELS })
    const undo = server.setFault({ on: /sandbox/, effect: { kind: 'status', status: 500 }, times: 100 })
    await expect(provider.destroy({ id })).rejects.toMatchObject({ code: 'SANDBOX_DESTROY_FAILED', retryable: true })
    undo()
    await provider.destroy({ id })
    await allGone(server)
  })
})

async function allGone(server: {
  sandboxes: () => readonly { sandboxId: string }[]
  settled: (id: string) => Promise<void>
}): Promise<void> {
  for (const { sandboxId } of server.sandboxes()) await server.settled(sandboxId)
  expect(server.sandboxes()).toEqual([])
}
