/** What goes wrong with one request, WebSocket handshake or stream. */
export type WireFaultEffect =
  /** The work is done, the answer is not sent: the connection drops. */
  | { kind: 'lost-reply' }
  /** The connection drops before any work. */
  | { kind: 'drop' }
  /** Never answered. `afterWork` does the work first. */
  | { kind: 'hang'; afterWork?: boolean }
  | { kind: 'delay'; ms: number }
  /** Answered without any work. `body` as JSON; none gives a bare status. */
  | { kind: 'status'; status: number; body?: object; headers?: Record<string, string> }
  /** A web page where JSON is expected, as from a wrong URL or a load balancer. */
  | { kind: 'html'; status?: number }
  | { kind: 'rate-limit'; retryAfterSeconds: number }
  /** The answer's body ends after this many bytes. */
  | { kind: 'cut-reply'; atByte: number }
  /** The server stops reading an upload after this many bytes of file content and drops the connection. */
  | { kind: 'cut-upload'; atByte: number }
  /** The container dies under the request, this long after it arrived, and the sandbox is stopped. */
  | { kind: 'kill-sandbox'; afterMs: number }
  /** A WebSocket ends with 1006 after this many bytes were sent. */
  | { kind: 'cut-socket'; atByte: number }
  /** A WebSocket is accepted and nothing is ever sent. */
  | { kind: 'silent-socket' }

/** A fault on the way of requests that match. */
export interface WireFault {
  /**
   * A route as the request log spells it (`POST /sandbox/:sandbox/start`, `WS /process/pty/create-connect`), or a
   * pattern tried on that route and on `METHOD path`.
   */
  on: string | RegExp
  effect: WireFaultEffect
  /** Matching requests that pass before the first hit. Default 0. */
  skip?: number
  /** Matching requests that are hit. Default 1. */
  times?: number
  /** Only requests for this sandbox. */
  sandboxId?: string
}
