import { describe, expect, it } from 'vitest'
import { eventsOf } from '../../fixtures/chat-fixture.ts'
import { routesFixture } from '../../fixtures/routes-fixture.ts'
import type { RoutesFixture } from '../../fixtures/routes-fixture.ts'

const call = (name: string, args: Record<string, unknown> = {}): { call: string; args: Record<string, unknown> } => ({
  call: name,
  args,
})
const bash = (command: string) => call('bash', { command })

async function toolResults({ stores }: RoutesFixture, threadId = 'thread-1'): Promise<Record<string, unknown>[]> {
  const messages = await stores.messages.loadThread(threadId)
  return messages
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => JSON.parse(content as string) as Record<string, unknown>)
}

describe('checkpoint tools', () => {
  it('are not offered to a model whose run has no checkpoints', async () => {
    const fixture = await routesFixture({ turns: [[call('save_checkpoint')], [{ say: 'ok' }]] })
    await eventsOf(await fixture.send('run-1'))
    expect(await fixture.stores.checkpoints.list('thread-1')).toEqual([])
    expect(JSON.stringify(await toolResults(fixture))).not.toContain('checkpointId')
  })

  it('save under the lease that the run holds, list, and compare', async () => {
    const turns = [
      [bash('echo one > file')],
      [call('save_checkpoint', { label: 'before the change' })],
      [bash('echo two > file')],
      [call('list_checkpoints')],
      [{ say: 'ok' }],
    ]
    const fixture = await routesFixture({ turns, routes: { checkpoints: {} } })
    await eventsOf(await fixture.send('run-1'))
    const [, saved, , listed] = await toolResults(fixture)
    expect(saved).toMatchObject({ changedFiles: 1 })
    expect(listed).toMatchObject({
      checkpoints: [{ checkpointId: saved?.['checkpointId'], label: 'before the change' }],
    })
    const [named, last] = await fixture.stores.checkpoints.list('thread-1')
    expect(named).toMatchObject({ id: saved?.['checkpointId'], reason: 'named', sourceRunId: 'run-1' })
    expect(last).toMatchObject({ parentCheckpointId: named?.id, reason: 'automatic' })
  })

  it('compare shows no checkpoint of another thread, whatever id the model makes up', async () => {
    const fixture = await routesFixture({ turns: [[{ say: 'ok' }]], routes: { checkpoints: {} } })
    await eventsOf(await fixture.send('run-1'))
    const foreign = (await fixture.stores.checkpoints.getHead('thread-1')) ?? ''
    const other = await routesFixture({
      stores: fixture.stores,
      turns: [[call('compare_checkpoints', { from: foreign })], [{ say: 'ok' }]],
      routes: { checkpoints: {} },
    })
    await eventsOf(await other.send('run-2', 'hello', 'thread-2'))
    const [result] = await toolResults(other, 'thread-2')
    expect(JSON.stringify(result)).toContain(`No checkpoint ${foreign}`)
  })

  it('publish a file that the checkpoint carries, and refuse a directory', async () => {
    const turns = [
      [bash('mkdir out; echo report > out/report.csv')],
      [call('publish_artifact', { path: 'out/report.csv' }), call('publish_artifact', { path: '/workspace/out' })],
      [{ say: 'ok' }],
    ]
    const fixture = await routesFixture({ turns, routes: { checkpoints: {} } })
    await eventsOf(await fixture.send('run-1'))
    const [, published, refused] = await toolResults(fixture)
    expect(published).toMatchObject({ name: 'report.csv', mimeType: 'text/csv', size: 7 })
    expect(JSON.stringify(refused)).toContain('no file')
    const [checkpoint] = await fixture.stores.checkpoints.list('thread-1')
    expect(checkpoint?.artifacts).toMatchObject([{ artifactId: published?.['artifactId'] }])
  })
})

describe('checkpoint routes', () => {
  it('save, list, compare, rewind and fork', async () => {
    const turns = [[bash('echo one > file')], [{ say: 'ok' }], [bash('echo two > file')], [{ say: 'ok' }]]
    const fixture = await routesFixture({ turns, routes: { checkpoints: {} } })
    await eventsOf(await fixture.send('run-1'))
    await eventsOf(await fixture.send('run-2', 'again'))
    const saved = await fixture.post('/threads/thread-1/checkpoints', { label: 'by hand' })
    expect(saved.status).toBe(201)
    const list = (await (await fixture.get('/threads/thread-1/checkpoints')).json()) as {
      headId: string
      checkpoints: { id: string; label?: string }[]
    }
    expect(list.checkpoints.map(({ label }) => label)).toEqual(['by hand', undefined, undefined])
    const [third, second, first] = list.checkpoints.map(({ id }) => id)
    expect(list.headId).toBe(third)
    const diff = await fixture.get(`/threads/thread-1/checkpoints/${first}/diff?with=${second}`)
    expect(await diff.json()).toMatchObject({
      files: [{ path: 'file', change: 'changed', diff: expect.stringContaining('+two') }],
    })
    const rewound = await fixture.post(`/threads/thread-1/checkpoints/${first}/rewind`)
    expect(await rewound.json()).toMatchObject({ checkpoint: { reason: 'rewind' }, isSandboxRestored: true })
    const fork = await fixture.post(`/threads/thread-1/checkpoints/${second}/fork`, { title: 'Branch' })
    expect(fork.status).toBe(201)
    const { threadId } = (await fork.json()) as { threadId: string }
    expect(await (await fixture.get(`/threads/${threadId}`)).json()).toMatchObject({ thread: { title: 'Branch' } })
    await eventsOf(await fixture.send('run-3', 'go on', threadId))
    expect(await fixture.stores.runs.get('run-3')).toMatchObject({ status: 'completed' })
  })

  it('answer 404 for what is missing or foreign, 400 for what is malformed, 409 while a run is active', async () => {
    const fixture = await routesFixture({
      turns: [[{ say: 'ok' }]],
      routes: { checkpoints: {}, authorize: (request) => ({ userId: request.headers.get('user') ?? 'owner' }) },
    })
    await eventsOf(await fixture.send('run-1'))
    const head = (await fixture.stores.checkpoints.getHead('thread-1')) ?? ''
    const stranger = { user: 'stranger' }
    expect((await fixture.get('/threads/thread-1/checkpoints', stranger)).status).toBe(404)
    expect((await fixture.get('/threads/thread-1/artifacts', stranger)).status).toBe(404)
    expect((await fixture.post(`/threads/thread-1/checkpoints/${head}/fork`, {}, stranger)).status).toBe(404)
    expect((await fixture.post('/threads/thread-1/checkpoints/none/rewind')).status).toBe(404)
    expect((await fixture.get(`/threads/thread-1/checkpoints/${head}/diff`)).status).toBe(400)
    expect((await fixture.post('/threads/thread-1/checkpoints', { label: 7 })).status).toBe(400)
    expect((await fixture.post('/threads/thread-1/checkpoints', 'no json')).status).toBe(400)
    await fixture.stores.drivers.claim({ runId: 'run-9', threadId: 'thread-1', owner: 'x', ttlMs: 60_000 })
    expect((await fixture.post(`/threads/thread-1/checkpoints/${head}/rewind`)).status).toBe(409)
  })
})

describe('an artifact route', () => {
  it('gives the bytes under their type and name, never as a page of this site', async () => {
    const turns = [
      [bash('echo "<script>alert(1)</script>" > "page ü.html"')],
      [call('publish_artifact', { path: 'page ü.html' })],
      [{ say: 'ok' }],
    ]
    const fixture = await routesFixture({ turns, routes: { checkpoints: {} } })
    await eventsOf(await fixture.send('run-1'))
    const { artifacts } = (await (await fixture.get('/threads/thread-1/artifacts')).json()) as {
      artifacts: { artifactId: string }[]
    }
    const id = artifacts[0]?.artifactId ?? ''
    const response = await fixture.get(`/threads/thread-1/artifacts/${id}/content`)
    expect(await response.text()).toContain('<script>')
    expect(response.headers.get('Content-Type')).toBe('text/html')
    expect(response.headers.get('Content-Disposition')).toBe("attachment; filename*=UTF-8''page%20%C3%BC.html")
    expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect((await fixture.get('/threads/thread-1/artifacts/none/content')).status).toBe(404)
    const [blob] = (await fixture.stores.blobs.list({ prefix: 'sandbox-artifacts/' })).objects
    await fixture.stores.blobs.delete(blob?.key ?? '')
    expect((await fixture.get(`/threads/thread-1/artifacts/${id}/content`)).status).toBe(404)
  })
})
