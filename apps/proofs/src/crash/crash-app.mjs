// @ts-check
// The app that the crash matrix kills and continues: plain JavaScript, so that a killed process starts fast.
import { createChatRoutes, defineSandbox, sandboxTools } from '@holdfast/middleware'
import { createPostgresStores } from '@holdfast/store-drizzle'

/** Hosts of the matrix live this much faster, so that a lease of 30 s ends after 3. */
export const SPEED = 10

/** @type {import('@holdfast/core').Clock} */
export const fastClock = {
  now: () => Date.now(),
  monotonic: () => performance.now() * SPEED,
  schedule(ms, fn) {
    const timer = setTimeout(fn, ms / SPEED)
    return () => clearTimeout(timer)
  },
}

/**
 * The stores of a host that lives faster: its leases are as much shorter.
 * @param {import('@holdfast/core').HoldfastStores} stores
 * @returns {import('@holdfast/core').HoldfastStores}
 */
function fastStores(stores) {
  const { drivers } = stores
  const fast = Object.create(drivers)
  for (const method of ['claim', 'renew']) {
    fast[method] = (/** @type {{ ttlMs: number }} */ input) =>
      Reflect.get(drivers, method).call(drivers, { ...input, ttlMs: input.ttlMs / SPEED })
  }
  for (const method of [
    'release',
    'detach',
    'finish',
    'listOrphaned',
    'list',
    'requestCancel',
    'onCancel',
    'findCancel',
  ]) {
    fast[method] = Reflect.get(drivers, method).bind(drivers)
  }
  return { ...stores, drivers: fast }
}

/** How long anything that a dead host held may keep others waiting. */
export const LEASE_MS = 30_000 / SPEED

/**
 * The stores of one host.
 * @param {string} url
 */
export function crashStores(url) {
  return fastStores(createPostgresStores({ url, lockTtlMs: LEASE_MS }))
}

/** What each of the model's turns does; the last one answers. */
const TURNS = [
  { say: 'First I write. ', commands: ['echo one >> work.txt'] },
  { say: '', commands: ['echo two >> work.txt', 'cat work.txt'] },
  { say: 'All of it is done, and said once.', commands: [] },
]
export const WHOLE_TEXT = TURNS.map((turn) => turn.say).join('')

/**
 * Says the same whenever it is asked at the same point of the conversation.
 * @param {{ messages: readonly any[], runId?: string, threadId?: string }} call
 */
async function* chatStream({ messages, runId = 'run', threadId = 'thread' }) {
  const since = messages.slice(messages.findLastIndex((message) => message.role === 'user') + 1)
  const turn = since.filter((message) => (message.toolCalls ?? []).length > 0).length
  const { say, commands } = TURNS[Math.min(turn, TURNS.length - 1)] ?? { say: '', commands: [] }
  const messageId = `${runId}-${turn}`
  const at = { timestamp: 1 }
  yield { ...at, type: 'RUN_STARTED', runId, threadId }
  if (say !== '') {
    yield { ...at, type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }
    for (const word of say.split(/(?<= )/)) {
      yield { ...at, type: 'TEXT_MESSAGE_CONTENT', messageId, delta: word }
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    yield { ...at, type: 'TEXT_MESSAGE_END', messageId }
  }
  for (const [index, command] of commands.entries()) {
    const named = { toolCallId: `${messageId}-${index}`, toolCallName: 'bash', toolName: 'bash' }
    const args = JSON.stringify({ command })
    yield { ...at, type: 'TOOL_CALL_START', ...named }
    yield { ...at, type: 'TOOL_CALL_ARGS', toolCallId: named.toolCallId, delta: args, args }
    yield { ...at, type: 'TOOL_CALL_END', ...named }
  }
  yield { ...at, type: 'RUN_FINISHED', runId, threadId, finishReason: commands.length > 0 ? 'tool_calls' : 'stop' }
}

const model = /** @type {any} */ ({
  kind: 'text',
  name: 'steady',
  model: 'steady-1',
  '~types': {},
  chatStream,
  structuredOutput: () => Promise.reject(new Error('The steady model has no structured output.')),
})

/**
 * What a sandbox of the matrix is.
 * @param {import('@holdfast/core').SandboxProvider} provider
 */
export function crashSandbox(provider) {
  return defineSandbox({ id: 'crash', provider, policy: { default: 'allow' } })
}

/**
 * One host: the routes of the app on these stores and this provider.
 * @param {import('@holdfast/core').HoldfastStores} stores
 * @param {import('@holdfast/core').SandboxProvider} provider
 * @param {{ savesCheckpoints?: boolean }} [options]
 */
export function crashApp(stores, provider, { savesCheckpoints = false } = {}) {
  return createChatRoutes({
    stores,
    sandbox: crashSandbox(provider),
    model: () => model,
    tools: sandboxTools(),
    clock: fastClock,
    ...(savesCheckpoints ? { checkpoints: { on: ['finish'] } } : {}),
  })
}

/**
 * The request of a person's browser.
 * @param {string} runId
 * @param {string} threadId
 */
export function sendRequest(runId, threadId) {
  const messages = [{ id: `${runId}-user`, role: 'user', content: `Do ${runId}.` }]
  const body = { runId, threadId, messages, tools: [], context: [], state: {}, forwardedProps: {} }
  return new Request('http://crash/api/chat', { method: 'POST', body: JSON.stringify(body) })
}

/**
 * The events of a stream, as they come.
 * @param {Response} response
 * @returns {AsyncGenerator<{ offset: string | undefined, chunk: any }>}
 */
export async function* eventsOf(response) {
  if (response.body === null) return
  let text = ''
  const decoder = new TextDecoder()
  for await (const bytes of /** @type {AsyncIterable<Uint8Array>} */ (/** @type {unknown} */ (response.body))) {
    text += decoder.decode(bytes, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const lines = block.split('\n')
      const field = (/** @type {string} */ name) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
      const data = field('data')
      if (data !== undefined) yield { offset: field('id'), chunk: JSON.parse(data) }
    }
  }
}
