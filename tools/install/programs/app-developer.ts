// Adds a sandbox to a chat, leaves in the middle of a run, comes back and misses nothing; then restarts the app.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createChatRoutes, defineSandbox, sandboxTools } from '@holdfast/middleware'
import type { ChatRoutes } from '@holdfast/middleware'
import { daytonaProvider } from '@holdfast/provider-daytona'
import { createEmbeddedStores } from '@holdfast/store-drizzle'
import { startDaytonaServer } from '@holdfast/testing/daytona'
import { chatBody, chunks, get, post } from './chat-client.ts'
import { scriptedModel } from './scripted-model.ts'

const dir = await mkdtemp(join(tmpdir(), 'holdfast-app-'))
const server = await startDaytonaServer()

function open(): { routes: ChatRoutes; close: () => Promise<void> } {
  const stores = createEmbeddedStores({ dir })
  const provider = daytonaProvider({ apiKey: server.apiKey, apiUrl: server.url })
  const sandbox = defineSandbox({ id: 'coder', provider, policy: { default: 'allow' } })
  const model = () => scriptedModel('echo hello from the sandbox > note; sleep 1; cat note')
  const routes = createChatRoutes({ stores, sandbox, model, tools: sandboxTools() })
  const close = async () => {
    await provider.close?.()
    await stores.close()
  }
  return { routes, close }
}

const app = open()
const sent = await post(app.routes, '/api/chat', chatBody('thread-1', 'run-1', 'Say hello'))
for await (const { type } of chunks(sent)) if (type === 'TOOL_CALL_START') break // The page is reloaded.

const hydrated = (await (await get(app.routes, '/api/chat?threadId=thread-1')).json()) as { activeRun: unknown }
assert.ok(hydrated.activeRun, 'the run goes on without a viewer')
const joined = []
for await (const chunk of chunks(await get(app.routes, '/api/chat?runId=run-1&offset=-1'))) joined.push(chunk)
assert.equal(joined.filter(({ type }) => type === 'RUN_FINISHED' || type === 'RUN_ERROR').at(-1)?.type, 'RUN_FINISHED')
assert.ok(JSON.stringify(joined).includes('hello from the sandbox'), 'the output of the command is in the events')
await app.close()

const restarted = open()
const thread = await (await get(restarted.routes, '/api/chat?threadId=thread-1')).text()
assert.ok(thread.includes('Done.'), 'the transcript outlives the process')
const note = await (await get(restarted.routes, '/api/threads/thread-1/files/content?path=note')).text()
assert.ok(note.includes('hello from the sandbox'), 'the workspace outlives the process')
await restarted.close()
await server.close()
await rm(dir, { recursive: true, force: true })
