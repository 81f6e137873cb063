/** What the vendor's client said, whatever it threw. */
export interface VendorFailure {
  readonly kind: VendorFailureKind
  readonly statusCode: number | undefined
  /** The service's own word for the reason, where it gave one. */
  readonly serviceCode: string | undefined
  readonly retryAfterMs: number | undefined
  readonly message: string
}

export type VendorFailureKind =
  | 'not-found'
  | 'conflict'
  | 'rate-limited'
  | 'refused'
  | 'invalid'
  | 'server-timeout'
  | 'server'
  | 'connection'
  | 'client-timeout'
  | 'foreign-answer'
  | 'unknown'

const MAX_MESSAGE = 400

/** Reads a thrown value by its status, then by its class name. Its text decides nothing. */
export function readVendorFailure(error: unknown): VendorFailure {
  const answered = numberField(error, 'statusCode')
  // A good status on an error means that the answer broke off after its head.
  const isCutOff = answered !== undefined && answered >= 200 && answered < 300
  const statusCode = isCutOff ? undefined : answered
  return {
    kind: isCutOff ? 'connection' : kindOf(error, statusCode),
    statusCode,
    serviceCode: textField(error, 'code'),
    retryAfterMs: retryAfterMs(error),
    message: messageOf(error),
  }
}

function kindOf(error: unknown, statusCode: number | undefined): VendorFailureKind {
  // A page instead of JSON comes from something that is not the service: it proves nothing about a sandbox.
  if (statusCode !== undefined && isHtml(error)) return statusCode >= 500 ? 'server' : 'foreign-answer'
  if (statusCode !== undefined) return kindOfStatus(statusCode)
  const name = textField(error, 'name') ?? ''
  if (name === 'DaytonaConnectionTimeoutError' || name === 'DaytonaTimeoutError') return 'client-timeout'
  if (name === 'DaytonaConnectionError') return 'connection'
  // A failed WebSocket handshake rejects with an event of `ws`, which is no Error.
  if (!(error instanceof Error)) return 'connection'
  if (name === 'DaytonaAuthenticationError') return 'refused'
  if (name === 'DaytonaInvalidArgumentError') return 'invalid'
  return 'unknown'
}

function kindOfStatus(statusCode: number): VendorFailureKind {
  if (statusCode === 404 || statusCode === 410) return 'not-found'
  if (statusCode === 409) return 'conflict'
  if (statusCode === 429) return 'rate-limited'
  if (statusCode === 401 || statusCode === 402 || statusCode === 403) return 'refused'
  if (statusCode === 408) return 'server-timeout'
  if (statusCode >= 500) return 'server'
  if (statusCode >= 400) return 'invalid'
  return 'unknown'
}

function retryAfterMs(error: unknown): number | undefined {
  const seconds = Number(header(error, 'retry-after') ?? Number.NaN)
  return Number.isFinite(seconds) && seconds >= 0 ? Math.ceil(seconds * 1000) : undefined
}

function isHtml(error: unknown): boolean {
  return (header(error, 'content-type') ?? '').toLowerCase().includes('text/html')
}

function header(error: unknown, name: string): string | undefined {
  const headers: unknown = field(error, 'headers')
  return headers === undefined || headers === null ? undefined : textField(headers, name)
}

function messageOf(error: unknown): string {
  const message = textField(error, 'message') ?? String(error)
  // The client stringifies an event or a stream where it expected text.
  if (message.includes('[object ')) return 'the connection failed without a reason'
  return message.slice(0, MAX_MESSAGE)
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function textField(value: unknown, name: string): string | undefined {
  const text = field(value, name)
  if (typeof text === 'number') return String(text)
  return typeof text === 'string' && text !== '' ? text : undefined
}

function numberField(value: unknown, name: string): number | undefined {
  const number = field(value, name)
  return typeof number === 'number' ? number : undefined
}
