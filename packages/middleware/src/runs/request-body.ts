import { assertId, InvalidInputError } from '@holdfast/core'
import { chatParamsFromRequestBody } from '@tanstack/ai'
import type { ModelMessage, UIMessage } from '@tanstack/ai'
import { readBoundedText } from './bounded-text.ts'

/** Longest chat request. Files belong in the sandbox, not in a message. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024

/** What a program that is not TanStack's client need not send. */
const NOTHING_MORE = { tools: [], context: [] }

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
    params = await chatParamsFromRequestBody({ ...NOTHING_MORE, ...body })
  } catch (error) {
    throw new InvalidInputError('INVALID_ARGUMENT', `The body is not an AG-UI run input${faultOf(error)}.`, {
      cause: error,
    })
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

/** The engine's message names the field after a hint for those who upgrade its client; it quotes no content. */
function faultOf(error: unknown): string {
  const [, fault] = (error instanceof Error && /Validation errors: (.+)$/.exec(error.message)) || []
  return fault === undefined ? '' : `: ${fault}`
}

function assertIds(body: unknown): asserts body is object {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new InvalidInputError('INVALID_ARGUMENT', 'The body must be a JSON object.')
  }
  assertId('threadId', Reflect.get(body, 'threadId'))
  assertId('runId', Reflect.get(body, 'runId'))
}
