import { randomUUID } from 'node:crypto'
import { genericInterruptContinuationFromDescriptor, wrapGenericInterruptContinuation } from '@tanstack/ai'
import type { RunSummary } from '../../lib/client/api.ts'

export interface StreamedEvent {
  /** Milliseconds since the request. */
  at: number
  id: string
  chunk: Record<string, unknown> & { type: string }
}

/** TanStack's client body with one message. */
export function chatBody(input: { threadId: string; runId: string; text: string }): Record<string, unknown> {
  const { threadId, runId, text } = input
  const messages = [{ id: randomUUID(), role: 'user', content: text }]
  return { threadId, runId, messages, tools: [], context: [], state: {}, forwardedProps: {} }
}

/** Sends a message; the response is the stream. */
export function send(
  url: string,
  input: { threadId: string; runId: string; text: string; headers?: Record<string, string>; signal?: AbortSignal },
): Promise<Response> {
  const headers = { 'Content-Type': 'application/json', 'X-Run-Id': input.runId, ...input.headers }
  const { signal } = input
  const body = JSON.stringify(chatBody(input))
  return fetch(`${url}/api/chat`, { method: 'POST', headers, body, ...(signal === undefined ? {} : { signal }) })
}

export function join(url: string, runId: string, offset = '-1'): Promise<Response> {
  return fetch(`${url}/api/chat?runId=${encodeURIComponent(runId)}&offset=${encodeURIComponent(offset)}`)
}

type Pause = Parameters<typeof genericInterruptContinuationFromDescriptor>[0]

export interface HydratedThread {
  activeRun: unknown
  interrupts: { runId: string; pending: Pause[] } | null
}

export async function hydrate(url: string, threadId: string): Promise<HydratedThread> {
  const response = await fetch(`${url}/api/chat?threadId=${encodeURIComponent(threadId)}`)
  return (await response.json()) as HydratedThread
}

/** Answers what the thread waits for, as TanStack's client does; the response is the stream. */
export async function approve(url: string, input: { threadId: string; runId: string }): Promise<Response> {
  const { interrupts } = await hydrate(url, input.threadId)
  const resume = (interrupts?.pending ?? []).map((pause) => {
    const continuation = genericInterruptContinuationFromDescriptor(pause)
    const metadata = continuation && wrapGenericInterruptContinuation(continuation)
    return { interruptId: pause.id, status: 'resolved', payload: { approved: true }, metadata }
  })
  const rest = { messages: [], tools: [], context: [], state: {}, forwardedProps: {} }
  const body = JSON.stringify({ ...input, ...rest, parentRunId: interrupts?.runId, resume })
  const headers = { 'Content-Type': 'application/json', 'X-Run-Id': input.runId }
  return fetch(`${url}/api/chat`, { method: 'POST', headers, body })
}

/** The events of a stream as they come. */
export async function* events(response: Response): AsyncGenerator<StreamedEvent> {
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  const startedAt = performance.now()
  const decoder = new TextDecoder()
  let buffered = ''
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
    buffered += decoder.decode(bytes, { stream: true })
    const blocks = buffered.split('\n\n')
    buffered = blocks.pop() ?? ''
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (data === undefined) continue
      const id = /^id: (.*)$/m.exec(block)?.[1] ?? ''
      yield { at: performance.now() - startedAt, id, chunk: JSON.parse(data) as StreamedEvent['chunk'] }
    }
  }
}

export async function allEvents(response: Response): Promise<StreamedEvent[]> {
  const all: StreamedEvent[] = []
  for await (const event of events(response)) all.push(event)
  return all
}

/** What the run printed live. */
export function printed(all: readonly StreamedEvent[]): string {
  return all.map(({ chunk }) => (chunk['name'] === 'process.stdout' ? chunkOf(chunk['value']) : '')).join('')
}

/** What the assistant said. */
export function said(all: readonly StreamedEvent[]): string {
  return all.map(({ chunk }) => (chunk.type === 'TEXT_MESSAGE_CONTENT' ? String(chunk['delta']) : '')).join('')
}

export async function latestRun(url: string, threadId: string): Promise<RunSummary | null> {
  const response = await fetch(`${url}/api/threads/${encodeURIComponent(threadId)}`)
  if (response.status === 404) return null
  return ((await response.json()) as { latestRun: RunSummary | null }).latestRun
}

export function cancel(url: string, runId: string): Promise<Response> {
  return fetch(`${url}/api/runs/${encodeURIComponent(runId)}/cancel`, {
    method: 'POST',
    body: JSON.stringify({ keepSandbox: true }),
  })
}

export async function errorCode(response: Response): Promise<string> {
  const body = (await response.json()) as { error?: { code?: unknown; message?: unknown } }
  if (typeof body.error?.code !== 'string' || typeof body.error.message !== 'string') {
    throw new Error(`Not an error: ${JSON.stringify(body)}`)
  }
  return body.error.code
}

export function occurrences(text: string, part: string): number {
  return text.split(part).length - 1
}

function chunkOf(value: unknown): string {
  return String((value as { chunk: unknown }).chunk)
}
