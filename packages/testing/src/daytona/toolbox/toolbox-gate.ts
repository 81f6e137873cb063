import type { IncomingMessage } from 'node:http'
import type { DaytonaService } from '../daytona-service.ts'
import { isRunning, type SandboxRecord } from '../control/sandbox-record.ts'
import { bearerToken } from '../http/organizations.ts'
import { proxyError } from '../http/wire-error.ts'
import type { Toolbox } from './toolbox.ts'

const TOKEN_HEADER = 'x-daytona-preview-token'
const TOKEN_QUERY = 'DAYTONA_SANDBOX_AUTH_KEY'
const SKIP_ACTIVITY = 'x-daytona-skip-last-activity-update'

/** Whether a caller may reach into a sandbox: by its own token or by the key of its organization. */
export function isAdmitted(
  service: DaytonaService,
  record: SandboxRecord,
  request: IncomingMessage,
  url: URL,
): boolean {
  const token = request.headers[TOKEN_HEADER] ?? url.searchParams.get(TOKEN_QUERY)
  if (typeof token === 'string' && service.previews.accepts(record, token)) return true
  const wanted = request.headers['x-daytona-organization-id']
  const organizationId = service.organizations.find(
    bearerToken(request.headers),
    typeof wanted === 'string' ? wanted : record.organizationId,
  )
  return organizationId === record.organizationId
}

/** The daemon behind a request, or the refusal of the proxy in front of it [P190]. */
export function openToolbox(service: DaytonaService, sandboxId: string, request: IncomingMessage, url: URL): Toolbox {
  const record = service.sandboxes.findById(sandboxId)
  if (!record) throw proxyError(404, `sandbox container not found: ${sandboxId}`)
  if (!isAdmitted(service, record, request, url)) throw proxyError(401, 'unauthorized: invalid or missing credentials')
  const toolbox = runningToolbox(record)
  if (!(SKIP_ACTIVITY in request.headers)) service.activity.note(record, 'proxy')
  return toolbox
}

export function runningToolbox(record: SandboxRecord): Toolbox {
  if (isRunning(record) && record.toolbox) return record.toolbox
  if (record.state === 'archived') throw proxyError(400, 'bad request: failed to get runner info for the sandbox')
  throw proxyError(400, 'bad request: no IP address found. Is the Sandbox started?')
}
