import type { Exchange } from './exchange.ts'

export type Handler = (exchange: Exchange) => Promise<void> | void

export interface Route {
  readonly method: string
  /** With `:names` for the variable segments, as it shows in the request log. */
  readonly pattern: string
  readonly handler: Handler
}

export interface RouteMatch {
  readonly route: Route
  readonly params: Record<string, string>
}

/** Finds a handler by method and path. A literal segment is preferred to a variable one. */
export class Router {
  readonly #routes: { route: Route; segments: string[] }[] = []

  add(method: string, pattern: string, handler: Handler): this {
    this.#routes.push({ route: { method, pattern, handler }, segments: pattern.split('/').slice(1) })
    return this
  }

  match(method: string, path: string): RouteMatch | undefined {
    const given = path.split('/').slice(1)
    let best: { match: RouteMatch; literals: number } | undefined
    for (const { route, segments } of this.#routes) {
      if (route.method !== method || segments.length !== given.length) continue
      const params = matchSegments(segments, given)
      if (!params) continue
      const literals = segments.length - Object.keys(params).length
      if (!best || literals > best.literals) best = { match: { route, params }, literals }
    }
    return best?.match
  }
}

function matchSegments(segments: readonly string[], given: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {}
  for (const [index, segment] of segments.entries()) {
    const value = given[index] ?? ''
    if (segment.startsWith(':')) {
      if (value === '') return undefined
      params[segment.slice(1)] = decodeSegment(value)
    } else if (segment !== value) return undefined
  }
  return params
}

function decodeSegment(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch (error) {
    if (error instanceof URIError) return value
    throw error
  }
}
