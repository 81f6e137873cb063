import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { allEvents, cancel, chatBody, errorCode, events, join, printed, said, send } from './chat-api.ts'
import type { StreamedEvent } from './chat-api.ts'
import type { ExampleServer } from '../../tools/example-server.mjs'
import { DEFAULT_HOST, startExampleOn } from './sandbox-host.ts'

let server: ExampleServer

beforeAll(async () => {
  server = await startExampleOn()
})
afterAll(() => server?.dispose())

function post(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Promise<Response> {
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body }
  return fetch(`${server.url}/api/chat`, init)
}

const good = chatBody({ threadId: 't-bad-input', runId: 'run-bad-input', text: 'hello' })
const with_ = (change: Record<string, unknown>): string => JSON.stringify({ ...good, ...change })

describe('bad input is refused with a code and a message', () => {
  test.each([
    ['malformed JSON', '{"threadId": ', 400, 'INVALID_ARGUMENT'],
    ['an empty body', '', 400, 'INVALID_ARGUMENT'],
    ['a body that is no object', '[]', 400, 'INVALID_ARGUMENT'],
    ['no thread id', with_({ threadId: undefined }), 400, 'INVALID_ID'],
    ['no run id', with_({ runId: undefined }), 400, 'INVALID_ID'],
    ['a thread id that is a number', with_({ threadId: 7 }), 400, 'INVALID_ID'],
    ['a thread id with a control character', with_({ threadId: 'a\nb' }), 400, 'INVALID_ID'],
    ['a run id with NUL', with_({ runId: 'a\u0000b' }), 400, 'INVALID_ID'],
    ['a run id over 256 bytes', with_({ runId: 'é'.repeat(129) }), 400, 'INVALID_ID'],
  ])('%s', async (_, body, status, code) => {
    const response = await post(body)
    expect(response.status).toBe(status)
    expect(await errorCode(response)).toBe(code)
  })

  test('a body over 4 MB', async () => {
    const response = await post(with_({ data: 'x'.repeat(4 * 1024 * 1024) }))
    expect(response.status).toBe(413)
    expect(await errorCode(response)).toBe('LIMIT_EXCEEDED')
  })

  test('none of it leaves a thread or run behind', async () => {
    expect(await (await fetch(`${server.url}/api/threads`)).json()).toMatchObject({ threads: [] })
    expect(await (await fetch(`${server.url}/api/runs`)).json()).toMatchObject({ runs: [] })
  })

  test.each([
    ['an unknown route', 'GET', '/api/nowhere', 404],
    ['a method that the route has not', 'PUT', '/api/chat', 405],
    ['a run that does not exist', 'GET', '/api/chat?runId=none&offset=-1', 404],
    ['an offset that is none', 'GET', '/api/chat?runId=run-exists&offset=zzz', 400],
    ['neither thread nor run', 'GET', '/api/chat', 400],
    ['files of a thread that does not exist', 'GET', '/api/threads/none/files', 404],
    ['deleting a thread that does not exist', 'DELETE', '/api/threads/none', 404],
    ['a limit that is no number', 'GET', '/api/runs?limit=many', 400],
  ])('%s', async (_, method, path, status) => {
    if (path.includes('run-exists')) {
      await allEvents(await send(server.url, { threadId: 't-exists', runId: 'run-exists', text: 'hello' }))
    }
    const response = await fetch(server.url + path, { method })
    expect(response.status).toBe(status)
    if (status !== 405 || response.headers.get('content-type')?.includes('json')) await errorCode(response)
  })
})

test('a message that says nothing is refused, and its thread works afterwards', async () => {
  const response = await post(with_({ messages: [] }))
  expect(response.status).toBe(400)
  expect(await errorCode(response)).toBe('INVALID_ARGUMENT')
  const next = await send(server.url, { threadId: 't-bad-input', runId: 'run-good-input', text: 'hello' })
  expect((await allEvents(next)).at(-1)?.chunk.type).toBe('RUN_FINISHED')
})

test('a run id that another thread has is a conflict', async () => {
  await allEvents(await send(server.url, { threadId: 't-own', runId: 'run-own', text: 'hello' }))
  const response = await send(server.url, { threadId: 't-foreign', runId: 'run-own', text: 'hello' })
  expect(response.status).toBe(409)
  expect(await errorCode(response)).toBe('RUN_CONFLICT')
})

test('a second send while a run is active is refused, and leaves nothing behind', async () => {
  const first = await send(server.url, { threadId: 't-twice', runId: 'run-first', text: '$ sleep 30' })
  const second = await send(server.url, { threadId: 't-twice', runId: 'run-second', text: 'hello' })
  expect(second.status).toBe(409)
  expect(await errorCode(second)).toBe('THREAD_BUSY')
  expect((await cancel(server.url, 'run-first')).status).toBe(202)
  await allEvents(first)
  const { runs } = (await (await fetch(`${server.url}/api/runs?threadId=t-twice`)).json()) as { runs: unknown[] }
  expect(runs).toHaveLength(1)
})

test('cancelling a finished or unknown run changes nothing and is no error', async () => {
  expect((await cancel(server.url, 'run-first')).status).toBe(200)
  expect((await cancel(server.url, 'run-never-was')).status).toBe(200)
})

test('another web page can neither send commands nor read', async () => {
  const headers = { Origin: 'https://attacker.example', 'Content-Type': 'text/plain' }
  const response = await post(JSON.stringify(good), headers)
  expect(response.status).toBe(403)
  expect(await errorCode(response)).toBe('POLICY_DENIED')
  const own = await fetch(`${server.url}/api/threads`, { headers: { Origin: server.url } })
  expect(own.status).toBe(200)
})

test('files outside of the workspace are refused', async () => {
  const thread = { threadId: 't-paths', runId: 'run-paths', text: '$ ln -s /etc/passwd link; echo inside > inside.txt' }
  await allEvents(await send(server.url, thread))
  const read = (path: string): Promise<Response> =>
    fetch(`${server.url}/api/threads/t-paths/files/content?path=${encodeURIComponent(path)}`)
  expect(await (await read('inside.txt')).text()).toBe('inside\n')
  for (const path of ['../../../etc/passwd', '/etc/passwd', '/workspace/../etc/passwd', 'link', 'a\u0000b']) {
    const response = await read(path)
    expect(response.ok, path).toBe(false)
    expect(response.status, path).toBeLessThan(500)
    expect(await response.text(), path).not.toContain('root:')
  }
  expect((await read('missing.txt')).status).toBe(404)
})

test('every command line runs in order and is reported with its exit code, however many there are', async () => {
  const lines = Array.from({ length: 12 }, (_, index) => `$ echo line-${index}-; exit ${index === 3 ? 7 : 0}`)
  const all = await allEvents(
    await send(server.url, { threadId: 't-lines', runId: 'run-lines', text: ['Please run', ...lines].join('\n') }),
  )
  const output = printed(all)
  const order = lines.map((_, index) => output.indexOf(`line-${index}-`))
  expect(order.every((position) => position >= 0)).toBe(true)
  expect(order).toEqual(order.toSorted((a, b) => a - b))
  expect(said(all)).toContain('exit code 7')
  expect(said(all)).toContain('line-11-')
  expect(all.at(-1)?.chunk.type).toBe('RUN_FINISHED')
})

test('any other message gets a short streamed answer that says it is a demo model', async () => {
  const all = await allEvents(await send(server.url, { threadId: 't-hello', runId: 'run-hello', text: 'Hello?' }))
  expect(said(all)).toContain('demo model')
  expect(all.filter(({ chunk }) => chunk.type === 'TEXT_MESSAGE_CONTENT').length).toBeGreaterThan(3)
})

test('events arrive one by one also for a client that takes compressed answers', async () => {
  // The command says the next word only when the one before has arrived.
  const arrived = await mkdtemp(joinPath(tmpdir(), 'arrived-'))
  onTestFinished(() => rm(arrived, { recursive: true, force: true }))
  const response = await send(server.url, {
    threadId: 't-gzip',
    runId: 'run-gzip',
    text: `$ for i in 1 2 3 4 5; do echo event $i; until [ -e ${arrived}/$i ]; do sleep 0.05; done; done`,
    headers: { 'Accept-Encoding': 'gzip, br' },
  })
  expect(response.headers.get('cache-control')).toContain('no-transform')
  let count = 0
  for await (const { chunk } of events(response)) {
    if (chunk['name'] === 'process.stdout') await writeFile(joinPath(arrived, String((count += 1))), '')
  }
  expect(count).toBe(5)
})

test('three viewers see the same events, from the start, the middle and the end, while it runs and afterwards', async () => {
  const text = '$ for i in 1 2 3 4 5 6; do echo step $i; sleep 0.2; done'
  const sent = await send(server.url, { threadId: 't-viewers', runId: 'run-viewers', text })
  const seen: StreamedEvent[] = []
  let joined: Promise<StreamedEvent[]>[] = []
  for await (const event of events(sent)) {
    seen.push(event)
    if (joined.length > 0 || !printed(seen).includes('step 3')) continue
    const offsets = ['-1', seen[3]?.id ?? '', event.id]
    joined = offsets.map(async (offset) => allEvents(await join(server.url, 'run-viewers', offset)))
  }
  const ids = seen.map(({ id }) => id)
  const [fromStart, fromMiddle, fromEnd] = await Promise.all(joined)
  expect(fromStart?.map(({ id }) => id)).toEqual(ids)
  expect(fromMiddle?.map(({ id }) => id)).toEqual(ids.slice(4))
  expect(ids.slice(-(fromEnd?.length ?? 0))).toEqual(fromEnd?.map(({ id }) => id))
  const afterwards = await allEvents(await join(server.url, 'run-viewers'))
  expect(afterwards.map(({ chunk }) => chunk)).toEqual(seen.map(({ chunk }) => chunk))
})

test('health names what is in use', async () => {
  const health: unknown = await (await fetch(`${server.url}/api/health`)).json()
  expect(health).toMatchObject({
    ok: true,
    store: { name: 'pglite', ok: true },
    provider: { name: DEFAULT_HOST === 'daytona' ? 'daytona' : 'process', ok: true },
    model: { ok: true },
  })
})
