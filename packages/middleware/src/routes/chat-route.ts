import type { ChatAccess } from './chat-access.ts'
import type { ChatRoutesOptions } from './chat-routes-options.ts'

/** What every route works with. */
export interface ChatRouteContext {
  options: ChatRoutesOptions
  access: ChatAccess
}

/** `params` are the decoded path segments that the route's pattern names. */
export type ChatRoute = (
  context: ChatRouteContext,
  request: Request,
  params: Readonly<Record<string, string>>,
) => Promise<Response>
