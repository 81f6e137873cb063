import type { ChatAccess } from './chat-access.ts'
import type { RunDriver } from '../runs/run-driver.ts'
import type { ChatRoutesOptions } from './chat-routes-options.ts'

/** What every route works with. */
export interface ChatRouteContext {
  options: ChatRoutesOptions
  access: ChatAccess
  /** Makes the events of a run, new or continued. */
  driver: RunDriver
}

/** `params` are the decoded path segments that the route's pattern names. */
export type ChatRoute = (
  context: ChatRouteContext,
  request: Request,
  params: Readonly<Record<string, string>>,
) => Promise<Response>
