import { CorruptDataError, InvalidInputError } from './errors/error-classes.ts'

/**
 * JSON text that gives back exactly what was put in. Throws `INVALID_CHUNK` for what JSON would change in silence:
 * non-finite numbers, bigints, functions, symbols, cycles. NUL and lone surrogates are kept, as escapes. An `undefined`
 * field is left out, as on the wire; an `undefined` array element is refused, because JSON would make it null.
 */
export function encodeExactJson(value: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value, function (this: unknown, key: string, field: unknown) {
      assertExact(this, key, field)
      return field
    })
  } catch (error) {
    if (error instanceof InvalidInputError) throw error
    throw new InvalidInputError('INVALID_CHUNK', 'The value cannot be written as JSON.', { cause: error })
  }
  if (text === undefined) throw new InvalidInputError('INVALID_CHUNK', 'The value cannot be written as JSON.')
  return text
}

function assertExact(holder: unknown, key: string, field: unknown): void {
  const type = typeof field
  const isLossyNumber = type === 'number' && !Number.isFinite(field)
  const isLossyHole = field === undefined && Array.isArray(holder)
  if (isLossyNumber || isLossyHole || type === 'bigint' || type === 'function' || type === 'symbol') {
    throw new InvalidInputError('INVALID_CHUNK', `Field "${key}" cannot be kept exactly as JSON.`)
  }
}

/** Reads JSON text that a store wrote. Throws `CORRUPT_DATA`, naming `what`, when it is not JSON. */
export function decodeJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new CorruptDataError('CORRUPT_DATA', `The stored ${what} is not valid JSON.`, { cause: error })
  }
}
