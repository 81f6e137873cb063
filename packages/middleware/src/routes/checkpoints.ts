import { InvalidInputError } from '@holdfast/core'
import { readBoundedText } from '../runs/bounded-text.ts'
import type { ChatRoute } from './chat-route.ts'
import { limitOf } from './query-limit.ts'
import { checkpointsOf } from './thread-checkpoints.ts'

const MAX_BODY_BYTES = 10_000
const MAX_LABEL_CHARACTERS = 200

/** The thread's checkpoints, newest first, without their content. */
export const listCheckpoints: ChatRoute = async (context, request, { threadId = '' }) => {
  const { tenant } = await context.access.thread(request, 'read', threadId)
  const query = new URL(request.url).searchParams
  const cursor = query.get('cursor')
  const page = { threadId, tenant, limit: limitOf(query), ...(cursor === null ? {} : { cursor }) }
  return Response.json(await checkpointsOf(context).list(page))
}

/** Saves the live sandbox: `{label?}`. */
export const saveCheckpoint: ChatRoute = async (context, request, { threadId = '' }) => {
  const { tenant } = await context.access.thread(request, 'send', threadId)
  const label = await fieldOf(request, 'label')
  const checkpoint = await checkpointsOf(context).save({ threadId, tenant, ...(label === undefined ? {} : { label }) })
  return Response.json({ checkpoint }, { status: 201 })
}

/** What changed from this checkpoint to the one named by `?with=`. */
export const diffCheckpoints: ChatRoute = async (context, request, { threadId = '', checkpointId = '' }) => {
  const { tenant } = await context.access.thread(request, 'read', threadId)
  const to = new URL(request.url).searchParams.get('with')
  if (to === null || to === '') throw new InvalidInputError('INVALID_ARGUMENT', 'Name a checkpoint with ?with=.')
  return Response.json(await checkpointsOf(context).diff({ threadId, tenant, from: checkpointId, to }))
}

/** Brings the thread back to this checkpoint. 409 while a run is active. */
export const rewindThread: ChatRoute = async (context, request, { threadId = '', checkpointId = '' }) => {
  const { tenant } = await context.access.thread(request, 'send', threadId)
  return Response.json(await checkpointsOf(context).rewind({ threadId, tenant, checkpointId }))
}

/** Begins a new thread at this checkpoint: `{title?}`. */
export const forkThread: ChatRoute = async (context, request, { threadId = '', checkpointId = '' }) => {
  const { tenant, thread } = await context.access.thread(request, 'send', threadId)
  const title = (await fieldOf(request, 'title')) ?? thread.title
  const fork = { threadId, tenant, checkpointId, ...(title === undefined ? {} : { title }) }
  return Response.json(await checkpointsOf(context).fork(fork), { status: 201 })
}

/** A text of the request's JSON body, which may be left out altogether. */
async function fieldOf(request: Request, name: string): Promise<string | undefined> {
  const text = await readBoundedText(request, MAX_BODY_BYTES)
  if (text === '') return undefined
  const value: unknown = Reflect.get(Object(parsed(text)) as object, name)
  if (value === undefined) return undefined
  if (typeof value === 'string' && value.length <= MAX_LABEL_CHARACTERS) return value
  throw new InvalidInputError(
    'INVALID_ARGUMENT',
    `${name} must be a text of at most ${MAX_LABEL_CHARACTERS} characters.`,
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw new InvalidInputError('INVALID_ARGUMENT', 'The body is not valid JSON.', { cause })
  }
}
