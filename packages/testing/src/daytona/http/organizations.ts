import { randomBytes, randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { apiError } from './wire-error.ts'

/** An account of the server, with its keys. */
export interface Organization {
  readonly organizationId: string
  readonly apiKey: string
  /** Good for every organization, together with the `X-Daytona-Organization-ID` header. */
  readonly jwtToken: string
}

/** Who may call. An API key belongs to one organization; a JWT names one in a header [M]. */
export class Organizations {
  readonly #byKey = new Map<string, string>()
  readonly #ids = new Set<string>()
  readonly #jwtToken = `jwt.${randomBytes(12).toString('hex')}`

  add(input: { organizationId?: string; apiKey?: string } = {}): Organization {
    const { organizationId = randomUUID(), apiKey = `dtn_${randomBytes(16).toString('hex')}` } = input
    this.#byKey.set(apiKey, organizationId)
    this.#ids.add(organizationId)
    return { organizationId, apiKey, jwtToken: this.#jwtToken }
  }

  /** The key is refused from now on, as an expired one. */
  revoke(apiKey: string): void {
    this.#byKey.delete(apiKey)
  }

  /** The organization that a token speaks for. */
  find(token: string | undefined, wanted: string | undefined): string | undefined {
    if (token === undefined) return undefined
    if (token === this.#jwtToken) return wanted !== undefined && this.#ids.has(wanted) ? wanted : undefined
    return this.#byKey.get(token)
  }

  open(headers: IncomingMessage['headers']): string {
    const organizationId = this.find(bearerToken(headers), headerText(headers['x-daytona-organization-id']))
    if (organizationId === undefined) throw apiError(401, 'Invalid credentials')
    return organizationId
  }
}

export function bearerToken(headers: IncomingMessage['headers']): string | undefined {
  return /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1]
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}
