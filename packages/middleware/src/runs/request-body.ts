import { assertId, InvalidInputError } from '@holdfast/core'
import { chatParamsFromRequestBody } from '@tanstack/ai'
import type { ModelMessage, UIMessage } from '@tanstack/ai'
import { readBoundedText } from './bounded-text.ts'

/** Longest chat request. Files belong in the sandbox, not in a message. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024

/** TanStack's client body, checked. */
export interface ChatRequest {
  runId: string
  threadId: string
  parentRunId?: string
  messages: (UIMessage | ModelMessage)[]
  resume?: Awaited<ReturnType<typeof chatParamsFromRequestBody>>['resume']
  forwardedProps: Record<string, unknown>
}

/**
 * Reads TanStack's client body. `INVALID_ARGUMENT` for malformed JSON or shape, `INVALID_ID` for an unusable id,
 * `LIMIT_EXCEEDED` above `MAX_BODY_BYTES`. The run id in `X-Run-Id`, when present, must equal the body's.
 */
export async function readChatRequest(request: Request): Promise<ChatRequest> {
  const body = parseJson(await readBoundedText(request, MAX_BODY_BYTES))
  assertIds(body)
  let params: Awaited<ReturnType<typeof chatParamsFromRequestBody>>
  try {
    params = await chatParamsFromRequestBody(body)
  } catch (error) {
    throw new InvalidInputError('INVALID_ARGUMENT', 'The body is not an AG-UI run input.', { cause: error })
  }
  const headerRunId = request.headers.get('X-Run-Id')
  if (headerRunId !== null && headerRunId !== params.runId) {
    throw new InvalidInputError('INVALID_ARGUMENT', 'X-Run-Id and the body name different runs.')
  }
  const { runId, threadId, parentRunId, messages, resume, forwardedProps } = params
  return {
    runId,
    threadId,
    messages,
    forwardedProps,
    ...(parentRunId === undefined ? {} : { parentRunId: assertId('parentRunId', parentRunId) }),
    ...(resume === undefined ? {} : { resume }),
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new InvalidInputError('INVALID_ARGUMENT', 'The body is not valid JSON.', { cause: error })
  }
}

function assertIds(body: unknown): void {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new InvalidInputError('INVALID_ARGUMENT', 'The body must be a JSON object.')
  }
  assertId('threadId', Reflect.get(body, 'threadId'))
  assertId('runId', Reflect.get(body, 'runId'))
}
