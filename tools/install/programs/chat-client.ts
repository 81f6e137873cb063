import type { ChatRoutes } from '@holdfast/middleware'

const ORIGIN = 'http://localhost'

export interface StreamedChunk {
  type: string
  [field: string]: unknown
}

export const get = (routes: ChatRoutes, path: string): Promise<Response> =>
  Promise.resolve(routes.handle(new Request(ORIGIN + path)))

export const post = (routes: ChatRoutes, path: string, body: unknown): Promise<Response> =>
  Promise.resolve(routes.handle(new Request(ORIGIN + path, { method: 'POST', body: JSON.stringify(body) })))

/** TanStack's client body with one message. */
export function chatBody(threadId: string, runId: string, content: string): Record<string, unknown> {
  const messages = [{ id: `${runId}-message`, role: 'user', content }]
  return { threadId, runId, messages, tools: [], context: [], state: {}, forwardedProps: {} }
}

/** The events of a response, as they come. */
export async function* chunks(response: Response): AsyncGenerator<StreamedChunk> {
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  const decoder = new TextDecoder()
  let waiting = ''
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
    waiting += decoder.decode(bytes, { stream: true })
    const blocks = waiting.split('\n\n')
    waiting = blocks.pop() ?? ''
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (data !== undefined) yield JSON.parse(data) as StreamedChunk
    }
  }
}
