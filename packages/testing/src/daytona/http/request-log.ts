/** Which part of the service was called. `events` is the Socket.IO channel, `preview` a request to a sandbox's port. */
export type RequestKind = 'control' | 'toolbox' | 'socket' | 'events' | 'preview' | 'unknown'

/** One request as it arrived. */
export interface RecordedRequest {
  readonly kind: RequestKind
  readonly method: string
  /** The path as it was sent, query included. */
  readonly path: string
  /** `POST /sandbox/:sandbox/start`; toolbox routes without the sandbox, `POST /process/execute`. */
  route: string
  sandboxId?: string
  /** Absent while no answer was given. */
  status?: number
  /** By the server's clock, epoch milliseconds. */
  readonly at: number
}

/** Which recorded requests are meant. */
export interface RequestFilter {
  kind?: RequestKind
  route?: string
  sandboxId?: string
}

/** Every request that reached the server, in order. */
export class RequestLog {
  readonly #requests: RecordedRequest[] = []

  add(request: RecordedRequest): RecordedRequest {
    this.#requests.push(request)
    return request
  }

  list(filter: RequestFilter = {}): readonly RecordedRequest[] {
    return this.#requests.filter(
      (request) =>
        (filter.kind === undefined || request.kind === filter.kind) &&
        (filter.route === undefined || request.route === filter.route) &&
        (filter.sandboxId === undefined || request.sandboxId === filter.sandboxId),
    )
  }

  /** Without a filter: requests and WebSocket handshakes, the event channel left out. */
  count(filter?: RequestFilter): number {
    if (filter) return this.list(filter).length
    return this.#requests.filter((request) => request.kind !== 'events').length
  }

  /** How often each route was called. */
  counts(): Record<string, number> {
    const counts: Record<string, number> = {}
    for (const { route } of this.#requests) counts[route] = (counts[route] ?? 0) + 1
    return counts
  }

  clear(): void {
    this.#requests.length = 0
  }
}
