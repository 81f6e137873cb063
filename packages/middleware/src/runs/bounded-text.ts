import { InvalidInputError } from '@holdfast/core'

/**
 * A request's body as text, empty when there is none. `LIMIT_EXCEEDED` above `maxBytes`, before more than that is read,
 * also when no length was announced or it was a lie.
 */
export async function readBoundedText(request: Request, maxBytes: number): Promise<string> {
  if (request.body === null) return ''
  if (Number(request.headers.get('Content-Length') ?? 0) > maxBytes) throw tooLarge(maxBytes)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function tooLarge(maxBytes: number): InvalidInputError {
  return new InvalidInputError('LIMIT_EXCEEDED', `The body exceeds ${maxBytes} bytes.`)
}
