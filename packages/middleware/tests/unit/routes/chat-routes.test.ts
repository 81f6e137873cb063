import { describe, expect, it } from 'vitest'
import { HOLD_PREFIX } from '../../../src/checkpoints/thread/thread-hold-id.ts'
import { ownerIdOf } from '../../../src/runs/tenant.ts'
import { eventsOf, storedChunks, terminalsOf, textOf } from '../../fixtures/chat-fixture.ts'
import { gate, settled } from '../../fixtures/gate.ts'
import { chatBody, routesFixture } from '../../fixtures/routes-fixture.ts'

interface Failure {
  error: { code: string; message: string }
}

async function failure(response: Response): Promise<[number, string]> {
  const { error } = (await response.json()) as Failure
  expect(error.message).toEqual(expect.any(String))
  return [response.status, error.code]
}

const bash = (command: string): { call: string; args: Record<string, unknown> } => ({ call: 'bash', args: { command } })

describe('POST /chat', () => {
  it('runs tools in the thread’s sandbox and streams what is stored', async () => {
    const turns = [[bash('echo hello; exit 3')], [{ say: 'done' }]]
    const { send, stores } = await routesFixture({ turns })
    const response = await send('run-1')
    expect(response.headers.get('Content-Type')).toBe('text/event-stream')
    expect(response.headers.get('Cache-Control')).toContain('no-transform')
    const chunks = (await eventsOf(response)).map((event) => event.chunk)
    expect(chunks.map((chunk) => chunk.type)).toEqual((await storedChunks(stores, 'run-1')).map((chunk) => chunk.type))
    const output = chunks.filter((chunk) => chunk.type === 'CUSTOM' && chunk.name === 'process.stdout')
    expect(JSON.stringify(output)).toContain('hello')
    const transcript = await stores.messages.loadThread('thread-1')
    expect(transcript.map((message) => message.role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(transcript[2]?.content).toContain('"exitCode":3')
  })

  it('joins the run when the same send comes again, while it runs and after', async () => {
    const held = gate()
    const { send, stores, model } = await routesFixture({
      turns: [[{ say: 'a' }, { wait: () => held.opened }, { say: 'b' }]],
    })
    const first = await send('run-1')
    const again = await send('run-1')
    held.open()
    const [one, two] = [await eventsOf(first), await eventsOf(again)]
    const three = await eventsOf(await send('run-1'))
    expect(two).toEqual(one)
    expect(three).toEqual(one)
    expect(model.seen).toHaveLength(1)
    expect((await stores.runs.get('run-1'))?.driverEpoch).toBe(1)
  })

  it('continues after the last event that a reconnecting client names', async () => {
    const { send } = await routesFixture({ turns: [[{ say: 'a' }, { say: 'b' }]] })
    const all = await eventsOf(await send('run-1'))
    const seen = all[2]
    const rest = await eventsOf(await send('run-1', 'hello', 'thread-1', { 'Last-Event-ID': seen?.id ?? '' }))
    expect(rest).toEqual(all.slice(3))
  })

  it('answers 409 THREAD_BUSY to a second send while a run is active', async () => {
    const held = gate()
    const { send } = await routesFixture({ turns: [[{ wait: () => held.opened }]] })
    const first = await send('run-1')
    expect(await failure(await send('run-2'))).toEqual([409, 'THREAD_BUSY'])
    held.open()
    await eventsOf(first)
  })

  it('answers 409 to a run id of another thread', async () => {
    const { send } = await routesFixture({ turns: [[{ say: 'a' }]] })
    await eventsOf(await send('run-1'))
    expect(await failure(await send('run-1', 'hello', 'thread-2'))).toEqual([409, 'RUN_CONFLICT'])
  })

  const bad: [string, unknown, number, string][] = [
    ['malformed JSON', '{"threadId":', 400, 'INVALID_ARGUMENT'],
    ['a body that is no object', '[]', 400, 'INVALID_ARGUMENT'],
    ['no thread id', { ...chatBody('run-1', 'x', ''), threadId: undefined }, 400, 'INVALID_ID'],
    ['no run id', { ...chatBody('', 'x', 'thread-1'), runId: undefined }, 400, 'INVALID_ID'],
    ['an id with a control character', chatBody('run-1', 'x', 'thread\u0007'), 400, 'INVALID_ID'],
    ['an id over 256 bytes', chatBody('run-1', 'x', 'ü'.repeat(129)), 400, 'INVALID_ID'],
    ['no messages', { ...chatBody('run-1', 'x', 'thread-1'), messages: undefined }, 400, 'INVALID_ARGUMENT'],
    ['a body over 4 MB', chatBody('run-1', 'x'.repeat(4 * 1024 * 1024), 'thread-1'), 413, 'LIMIT_EXCEEDED'],
  ]
  for (const [title, body, status, code] of bad) {
    it(`answers ${status} ${code} to ${title}, and leaves nothing behind`, async () => {
      const { post, stores } = await routesFixture({ turns: [[{ say: 'a' }]] })
      expect(await failure(await post('/chat', body))).toEqual([status, code])
      expect(await stores.drivers.list({ limit: 10 })).toEqual([])
    })
  }
})

describe('the body of POST /chat', () => {
  it('need have no more than ids and messages', async () => {
    const { post, model } = await routesFixture({ turns: [[{ say: 'hello too' }]] })
    const messages = [{ id: 'message-1', role: 'user', content: 'hello' }]
    const events = await eventsOf(await post('/chat', { threadId: 'thread-1', runId: 'run-1', messages }))
    expect(textOf(events.map((event) => event.chunk))).toBe('hello too')
    expect(model.seen).toHaveLength(1)
  })

  it('is refused with the name of the field that is wrong, and none of its content', async () => {
    const { post } = await routesFixture({ turns: [] })
    const messages = [{ id: 'message-1', role: 'user', content: { secret: 'mine' } }]
    const answer = await post('/chat', { threadId: 'thread-1', runId: 'run-1', messages })
    const { error } = (await answer.json()) as { error: { message: string } }
    expect(error.message).toBe(
      'The body is not an AG-UI run input: messages[0].content must be a string or an array of content parts.',
    )
  })
})

describe('GET /chat', () => {
  it('hydrates an unknown thread as empty', async () => {
    const { get } = await routesFixture({ turns: [] })
    expect(await (await get('/chat?threadId=new')).json()).toEqual({ messages: [], activeRun: null, interrupts: null })
  })

  it('names the active run and leaves what that run wrote to its events', async () => {
    const held = gate()
    const turns = [[bash('true')], [{ say: 'half' }, { wait: () => held.opened }, { say: ' whole' }]]
    const { send, get, model } = await routesFixture({ turns })
    const response = await send('run-1')
    while (model.seen.length < 2) await settled(5)
    const hydration = (await (await get('/chat?threadId=thread-1')).json()) as { messages: { role: string }[] }
    expect(hydration).toMatchObject({ activeRun: { runId: 'run-1' }, messages: [{ role: 'user' }] })
    const joined = get('/chat?runId=run-1&offset=-1')
    held.open()
    const [one, two] = [await eventsOf(response), await eventsOf(await joined)]
    expect(two).toEqual(one)
    const after = (await (await get('/chat?threadId=thread-1')).json()) as { messages: { role: string }[] }
    expect(after).toMatchObject({ activeRun: null })
    expect(after.messages.map((message) => message.role)).toEqual(['user', 'assistant', 'assistant'])
  })

  it('gives three joins at different positions the same text once', async () => {
    const held = gate()
    const { send, get } = await routesFixture({
      turns: [[{ say: 'a' }, { say: 'b' }, { wait: () => held.opened }, { say: 'c' }]],
    })
    const response = await send('run-1')
    await settled()
    const ids = (await eventsSoFar(await get('/chat?runId=run-1&offset=-1'))).map((event) => event.id)
    const joins = ['-1', ids[2] ?? '', ids.at(-1) ?? ''].map((offset) =>
      get(`/chat?runId=run-1&offset=${encodeURIComponent(offset)}`),
    )
    const responses = await Promise.all(joins)
    held.open()
    const all = await eventsOf(response)
    expect(textOf(all.map((event) => event.chunk))).toBe('abc')
    const results = await Promise.all(responses.map(eventsOf))
    expect(results[0]).toEqual(all)
    expect(results[1]).toEqual(all.slice(3))
    expect(results[2]).toEqual(all.slice(ids.length))
  })

  it('answers 404 for an unknown run, 400 without a position and for a bad one', async () => {
    const { get, send } = await routesFixture({ turns: [[{ say: 'a' }]] })
    expect(await failure(await get('/chat?runId=nobody&offset=-1'))).toEqual([404, 'RUN_NOT_FOUND'])
    await eventsOf(await send('run-1'))
    expect(await failure(await get('/chat?runId=run-1'))).toEqual([400, 'INVALID_ARGUMENT'])
    expect(await failure(await get('/chat?runId=run-1&offset=garbage'))).toEqual([400, 'INVALID_OFFSET'])
    expect(await failure(await get('/chat'))).toEqual([400, 'INVALID_ARGUMENT'])
  })
})

describe('POST /runs/{runId}/cancel', () => {
  it('ends the command’s process tree and the run, within two seconds', async () => {
    const marker = `holdfast-${process.pid}-${Date.now()}`
    const turns = [[bash(`sh -c 'exec -a ${marker} sleep 60' & sleep 60 & wait`)]]
    const { send, post, stores, model, sandboxIds } = await routesFixture({ turns })
    const response = await send('run-1')
    while (model.seen.length < 1 || !(await hasStarted(stores))) await settled(20)
    const startedAt = performance.now()
    const cancelled = await post('/runs/run-1/cancel', { keepSandbox: true })
    expect(cancelled.status).toBe(202)
    const chunks = (await eventsOf(response)).map((event) => event.chunk)
    expect(performance.now() - startedAt).toBeLessThan(2_000)
    expect(terminalsOf(chunks).at(-1)).toBe('RUN_ERROR')
    expect(await stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
    expect(await sandboxIds()).toHaveLength(1)
    const transcript = await stores.messages.loadThread('thread-1')
    expect(transcript.map((message) => message.role)).toEqual(['user', 'assistant', 'tool'])
  })

  it('destroys the sandbox unless asked to keep it', async () => {
    const { send, post, stores, sandboxIds } = await routesFixture({ turns: [[bash('sleep 60')]] })
    const response = await send('run-1')
    while (!(await hasStarted(stores))) await settled(20)
    await post('/runs/run-1/cancel')
    await eventsOf(response)
    expect(await sandboxIds()).toEqual([])
    expect(await stores.instances.list?.({})).toMatchObject({ records: [] })
  })

  it('is a 2xx no-op for an unknown and for a finished run', async () => {
    const { send, post, stores } = await routesFixture({ turns: [[{ say: 'a' }]] })
    expect((await post('/runs/nobody/cancel')).status).toBe(200)
    await eventsOf(await send('run-1'))
    expect((await post('/runs/run-1/cancel')).status).toBe(200)
    expect(await stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
  })
})

describe('GET /runs', () => {
  it('lists the turns, however often it was held for a save since', async () => {
    const { get, stores } = await routesFixture({ turns: [] })
    await stores.threads.ensure({ threadId: 'thread-1', ownerId: ownerIdOf({}) })
    const runIds = ['run-1', 'run-2', ...Array.from({ length: 200 }, (_, index) => `${HOLD_PREFIX}${index}`)]
    for (const [startedAt, runId] of runIds.entries())
      await stores.runs.createOrResume({ runId, threadId: 'thread-1', startedAt, status: 'completed' })
    for (const query of ['limit=2', 'threadId=thread-1&limit=2']) {
      const listed = await (await get(`/runs?${query}`)).json()
      expect(listed).toMatchObject({ runs: [{ runId: 'run-2' }, { runId: 'run-1' }] })
    }
  })
})

describe('DELETE /threads/{threadId}', () => {
  it('ends what runs and erases all that the thread owns, its sandbox included', async () => {
    const { send, remove, get, stores, sandboxIds } = await routesFixture({ turns: [[bash('sleep 60')]] })
    const response = await send('run-1')
    while (!(await hasStarted(stores))) await settled(20)
    expect((await remove('/threads/thread-1')).status).toBe(204)
    await eventsOf(response)
    expect(await sandboxIds()).toEqual([])
    expect(await stores.runs.get('run-1')).toBeNull()
    expect(await stores.messages.loadThread('thread-1')).toEqual([])
    expect(await storedChunks(stores, 'run-1')).toEqual([])
    expect((await get('/threads/thread-1')).status).toBe(404)
  })
})

describe('files', () => {
  it('lists the workspace and gives a file’s bytes, never as something a browser runs', async () => {
    const turns = [[bash('mkdir -p src && printf "<script>x</script>" > src/a.html')], [{ say: 'ok' }]]
    const { send, get } = await routesFixture({ turns })
    await eventsOf(await send('run-1'))
    const listing = (await (await get('/threads/thread-1/files')).json()) as { files: { path: string }[] }
    expect(listing.files.map((file) => file.path)).toEqual(expect.arrayContaining(['src', 'src/a.html']))
    const content = await get('/threads/thread-1/files/content?path=src%2Fa.html')
    expect(content.headers.get('Content-Type')).toBe('application/octet-stream')
    expect(content.headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(await content.text()).toBe('<script>x</script>')
  })

  it('refuses paths outside the workspace, links included', async () => {
    const { send, get } = await routesFixture({ turns: [[bash('ln -s /etc/passwd leak')], [{ say: 'ok' }]] })
    await eventsOf(await send('run-1'))
    for (const path of ['../../etc/passwd', '/etc/passwd', 'leak', 'a\u0000b']) {
      const response = await get(`/threads/thread-1/files/content?path=${encodeURIComponent(path)}`)
      expect([path, response.status]).toEqual([path, 400])
      expect(await response.text()).not.toContain('root:')
    }
  })
})

describe('tenants', () => {
  const authorize = (request: Request): { userId: string } => ({ userId: request.headers.get('X-User') ?? 'nobody' })

  it('answers 404 for a foreign thread, its runs and its files', async () => {
    const { send, get } = await routesFixture({ turns: [[{ say: 'a' }]], routes: { authorize } })
    await eventsOf(await send('run-1', 'hello', 'thread-1', { 'X-User': 'anna' }))
    const bob = { 'X-User': 'bob' }
    expect(await failure(await get('/threads/thread-1', bob))).toEqual([404, 'THREAD_NOT_FOUND'])
    expect(await failure(await get('/threads/thread-1/files', bob))).toEqual([404, 'THREAD_NOT_FOUND'])
    expect(await failure(await get('/chat?runId=run-1&offset=-1', bob))).toEqual([404, 'RUN_NOT_FOUND'])
    expect(await failure(await send('run-2', 'hi', 'thread-1', bob))).toEqual([404, 'THREAD_NOT_FOUND'])
    expect(await (await get('/chat?threadId=thread-1', bob)).json()).toMatchObject({ messages: [] })
    expect(await (await get('/threads', bob)).json()).toMatchObject({ threads: [] })
    expect(await (await get('/runs', bob)).json()).toEqual({ runs: [] })
  })

  it('lists as many runs of the tenant as were asked for, however many newer ones others have', async () => {
    const { get, stores } = await routesFixture({ turns: [], routes: { authorize } })
    await stores.threads.ensure({ threadId: 'quiet', ownerId: ownerIdOf({ userId: 'anna' }) })
    await stores.threads.ensure({ threadId: 'busy', ownerId: ownerIdOf({ userId: 'bob' }) })
    for (const [runId, threadId, startedAt] of [
      ['a-1', 'quiet', 1],
      ['a-2', 'quiet', 2],
      ['b-1', 'busy', 3],
      ['b-2', 'busy', 4],
    ] as const) {
      await stores.runs.createOrResume({ runId, threadId, startedAt, status: 'completed' })
    }
    const listed = await (await get('/runs?limit=2', { 'X-User': 'anna' })).json()
    expect(listed).toMatchObject({ runs: [{ runId: 'a-2' }, { runId: 'a-1' }] })
  })

  it('answers 403 to whom the app refuses', async () => {
    const { get } = await routesFixture({ turns: [], routes: { authorize: () => null } })
    expect(await failure(await get('/threads'))).toEqual([403, 'POLICY_DENIED'])
  })
})

describe('the rest of the surface', () => {
  it('says what is in use and whether it works', async () => {
    const { get, stores } = await routesFixture({ turns: [], routes: { modelName: 'scripted' } })
    expect(await (await get('/health')).json()).toMatchObject({
      ok: true,
      store: { name: 'memory', ok: true },
      model: { name: 'scripted' },
    })
    await stores.close()
    const response = await get('/health')
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ ok: false, store: { ok: false } })
  })

  it('answers 404 to an unknown path and 405 to a wrong method', async () => {
    const { get, remove } = await routesFixture({ turns: [] })
    expect(await failure(await get('/nothing'))).toEqual([404, 'ROUTE_NOT_FOUND'])
    expect(await failure(await remove('/chat'))).toEqual([405, 'METHOD_NOT_ALLOWED'])
  })
})

async function hasStarted(stores: {
  eventLog: { open: (input: { runId: string }) => { snapshot: () => Promise<{ chunk: { type: string } }[]> } }
}): Promise<boolean> {
  const chunks = await stores.eventLog.open({ runId: 'run-1' }).snapshot()
  return chunks.some(({ chunk }) => chunk.type === 'TOOL_CALL_END')
}

async function eventsSoFar(response: Response): Promise<{ id: string }[]> {
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (!text.includes('"delta":"b"')) text += decoder.decode((await reader.read()).value, { stream: true })
  await reader.cancel()
  return [...text.matchAll(/^id: (.*)$/gm)].map((match) => ({ id: match[1] ?? '' }))
}
