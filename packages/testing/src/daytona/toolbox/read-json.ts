import type { Exchange } from '../http/exchange.ts'
import { daemonError } from '../http/wire-error.ts'

/** The daemon's way of reading a body: anything but a JSON object is 400. */
export async function readJson<Body extends object>(exchange: Exchange): Promise<Partial<Body>> {
  const text = (await exchange.body()).toString('utf8')
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null) return body as Partial<Body>
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw daemonError(400, 'invalid request body', 'INVALID_REQUEST_BODY')
}
