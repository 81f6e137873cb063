// As much of OpenAI's Responses API as one tool call and one answer need.
import { createServer } from 'node:http'
import { once } from 'node:events'

const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 0,
  status: 'in_progress',
  model: 'gpt-5.2',
  output: [],
}

/** A model that runs `command` with the tool `bash`, then says `answer`. */
export async function startFakeOpenAi(/** @type {{ command: string, answer: string }} */ script) {
  const server = createServer((request, response) => {
    answer(script, request, response).catch((error) => response.destroy(error))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The model has no port.')
  return { url: `http://127.0.0.1:${address.port}/v1`, close: () => server.close() }
}

async function answer(
  /** @type {{ command: string, answer: string }} */ script,
  /** @type {import('node:http').IncomingMessage} */ request,
  /** @type {import('node:http').ServerResponse} */ response,
) {
  let body = ''
  for await (const chunk of request) body += chunk
  const hasRun = body.includes('function_call_output')
  response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  for (const event of hasRun ? say(script.answer) : callBash(script.command))
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  response.end()
}

function callBash(/** @type {string} */ command) {
  const text = JSON.stringify({ command })
  const call = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'bash', arguments: '' }
  const done = { ...call, arguments: text }
  return [
    { type: 'response.created', response: RESPONSE },
    { type: 'response.output_item.added', output_index: 0, item: call },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 0, delta: text },
    { type: 'response.function_call_arguments.done', item_id: 'fc_1', output_index: 0, arguments: text },
    { type: 'response.output_item.done', output_index: 0, item: done },
    { type: 'response.completed', response: { ...RESPONSE, status: 'completed', output: [done] } },
  ]
}

function say(/** @type {string} */ text) {
  const content = [{ type: 'output_text', text, annotations: [] }]
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content }
  return [
    { type: 'response.created', response: RESPONSE },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
    { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: text },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { ...RESPONSE, status: 'completed', output: [item] } },
  ]
}
