import type { Exchange } from '../http/exchange.ts'
import { apiError } from '../http/wire-error.ts'

/** An absent body is an empty object: the SDK sends some POSTs without one and with a form's content type [M]. */
export async function readApiJson<Body extends object>(exchange: Exchange): Promise<Partial<Body>> {
  const text = (await exchange.body()).toString('utf8')
  if (text === '') return {}
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Partial<Body>
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw apiError(400, 'Request body is not a JSON object')
}
