import { ChatAccess } from './chat-access.ts'
import { listArtifacts, readArtifact } from './artifacts.ts'
import { cancel } from './cancel.ts'
import { createChatDriver } from './chat-driver.ts'
import type { ChatRoute, ChatRouteContext } from './chat-route.ts'
import type { ChatRoutesOptions } from './chat-routes-options.ts'
import { diffCheckpoints, forkThread, listCheckpoints, rewindThread, saveCheckpoint } from './checkpoints.ts'
import { listFiles, readFile } from './files.ts'
import { health } from './health.ts'
import { listRuns } from './list-runs.ts'
import { listOperatorRuns, reap } from './operator.ts'
import { readChat } from './read-chat.ts'
import { errorResponse, failureResponse } from './route-failure.ts'
import { sendMessage } from './send-message.ts'
import { deleteThread, listThreads, readThread } from './threads.ts'

/** The HTTP surface: method, path below `basePath`, handler. `{name}` stands for one path segment. */
const ROUTES: readonly (readonly [method: string, path: string, route: ChatRoute])[] = [
  ['POST', '/chat', sendMessage],
  ['GET', '/chat', readChat],
  ['POST', '/runs/{runId}/cancel', cancel],
  ['GET', '/runs', listRuns],
  ['GET', '/threads', listThreads],
  ['GET', '/threads/{threadId}', readThread],
  ['DELETE', '/threads/{threadId}', deleteThread],
  ['GET', '/threads/{threadId}/files', listFiles],
  ['GET', '/threads/{threadId}/files/content', readFile],
  ['GET', '/threads/{threadId}/checkpoints', listCheckpoints],
  ['POST', '/threads/{threadId}/checkpoints', saveCheckpoint],
  ['GET', '/threads/{threadId}/checkpoints/{checkpointId}/diff', diffCheckpoints],
  ['POST', '/threads/{threadId}/checkpoints/{checkpointId}/rewind', rewindThread],
  ['POST', '/threads/{threadId}/checkpoints/{checkpointId}/fork', forkThread],
  ['GET', '/threads/{threadId}/artifacts', listArtifacts],
  ['GET', '/threads/{threadId}/artifacts/{artifactId}/content', readArtifact],
  ['GET', '/health', health],
  ['POST', '/reap', reap],
  ['GET', '/operator/runs', listOperatorRuns],
]

/** The HTTP surface of a chat, as one handler. */
export interface ChatRoutes {
  /** Answers a request to any of the routes; 404 or 405 for others. Never rejects. */
  handle: (request: Request) => Promise<Response>
}

/** The whole HTTP surface as one Web-standard handler, built from the public pieces and nothing else. */
export function createChatRoutes(options: ChatRoutesOptions): ChatRoutes {
  const context: ChatRouteContext = { options, access: new ChatAccess(options), driver: createChatDriver(options) }
  const basePath = options.basePath ?? '/api'
  return {
    async handle(request) {
      try {
        return await dispatch(context, basePath, request)
      } catch (error) {
        return failureResponse(error)
      }
    },
  }
}

async function dispatch(context: ChatRouteContext, basePath: string, request: Request): Promise<Response> {
  const path = new URL(request.url).pathname
  const segments = path.startsWith(`${basePath}/`) ? path.slice(basePath.length).split('/') : []
  let isKnownPath = false
  for (const [method, pattern, route] of ROUTES) {
    const params = matchPath(pattern.split('/'), segments)
    if (params === undefined) continue
    isKnownPath = true
    if (method === request.method) return route(context, request, params)
  }
  if (isKnownPath) return errorResponse(405, 'METHOD_NOT_ALLOWED', `${request.method} is not for ${path}.`)
  return errorResponse(404, 'ROUTE_NOT_FOUND', `There is no ${path}.`)
}

function matchPath(pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? ''
    if (part.startsWith('{')) params[part.slice(1, -1)] = decodeSegment(segment)
    else if (part !== segment) return undefined
  }
  return params
}

/** A segment that is not valid percent encoding stays as it is, and then fails as an id. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch (error) {
    if (error instanceof URIError) return segment
    throw error
  }
}
