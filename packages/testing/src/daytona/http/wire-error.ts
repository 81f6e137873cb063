/** Which part of the service refuses: each has its own body. */
export type WireErrorOrigin = 'api' | 'daemon' | 'proxy'

export interface WireErrorInput {
  status: number
  message: string
  origin: WireErrorOrigin
  code?: string
  headers?: Record<string, string>
  /** True for the endpoints of daemon 0.190 that commit the status before the body is written [D190]. */
  emptyOnOldDaemon?: boolean
}

/** A refusal as it goes over the wire. Thrown by handlers, written by the exchange. */
export class WireError extends Error {
  readonly input: WireErrorInput

  constructor(input: WireErrorInput) {
    super(input.message)
    this.name = 'WireError'
    this.input = input
  }
}

export function apiError(status: number, message: string, headers?: Record<string, string>): WireError {
  return new WireError({ status, message, origin: 'api', ...(headers ? { headers } : {}) })
}

export function daemonError(status: number, message: string, code?: string): WireError {
  return new WireError({ status, message, origin: 'daemon', ...(code ? { code } : {}) })
}

/** For the file endpoints and for session commands, where daemon 0.190 sends a bare status. */
export function bareDaemonError(status: number, message: string, code?: string): WireError {
  return new WireError({ status, message, origin: 'daemon', emptyOnOldDaemon: true, ...(code ? { code } : {}) })
}

export function proxyError(status: number, message: string): WireError {
  return new WireError({ status, message, origin: 'proxy' })
}

const GENERIC_CODES: Record<number, string> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  408: 'REQUEST_TIMEOUT',
  409: 'CONFLICT',
  410: 'GONE',
  500: 'INTERNAL_SERVER_ERROR',
  502: 'BAD_GATEWAY',
}

const REASON_PHRASES: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
  422: 'Unprocessable Entity',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

export interface WireErrorContext {
  method: string
  path: string
  timestamp: string
  daemon: '0.190' | '0.218'
}

/** The body of a refusal, or null for a bare status. Control API bodies carry neither `code` nor `source` [A190]. */
export function wireErrorBody(error: WireErrorInput, context: WireErrorContext): object | null {
  const { status, message } = error
  const { method, path, timestamp } = context
  if (error.origin === 'api')
    return { path, timestamp, statusCode: status, error: REASON_PHRASES[status] ?? 'Error', message }
  if (context.daemon === '0.190' && error.emptyOnOldDaemon) return null
  const generic = GENERIC_CODES[status] ?? 'ERROR'
  const body = { statusCode: status, message, timestamp, path, method }
  if (context.daemon === '0.190') return { ...body, code: generic }
  const source = error.origin === 'daemon' ? 'DAYTONA_DAEMON' : 'DAYTONA_PROXY'
  return { ...body, code: error.code ?? generic, source }
}
