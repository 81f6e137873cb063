import { CorruptDataError, InvalidInputError } from './errors/error-classes.ts'

/**
 * JSON text that gives back exactly what was put in. Throws `INVALID_CHUNK` for what JSON would change in silence:
 * non-finite numbers, bigints, functions, symbols, cycles. NUL and lone surrogates are kept, as escapes. An `undefined`
 * field is left out, as on the wire; an `undefined` array element is refused, because JSON would make it null.
 */
export function encodeExactJson(value: unknown): string {
  let text: string | undefined
  try {
    text = isPlain(value, 0) ? JSON.stringify(value) : JSON.stringify(value, checkField)
  } catch (error) {
    if (error instanceof InvalidInputError) throw error
    throw new InvalidInputError('INVALID_CHUNK', 'The value cannot be written as JSON.', { cause: error })
  }
  if (text === undefined) throw new InvalidInputError('INVALID_CHUNK', 'The value cannot be written as JSON.')
  return text
}

/** What is deeper goes the checked way, and so does a cycle. */
const MAX_PLAIN_DEPTH = 32

/** True for what JSON keeps as it is. Looking first costs far less than a replacer does, as long as it makes no objects. */
function isPlain(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true
    case 'number':
      return Number.isFinite(value)
    case 'object':
      return value === null || hasPlainFields(value, depth)
    default:
      return false
  }
}

function hasPlainFields(value: object, depth: number): boolean {
  if (depth === MAX_PLAIN_DEPTH || 'toJSON' in value) return false
  return Array.isArray(value) ? hasPlainElements(value, depth) : hasPlainProperties(value, depth)
}

function hasPlainElements(list: readonly unknown[], depth: number): boolean {
  // By index, because `every` steps over the holes of a sparse array.
  for (let index = 0; index < list.length; index += 1) if (!isPlain(list[index], depth + 1)) return false
  return true
}

function hasPlainProperties(value: object, depth: number): boolean {
  for (const key in value) {
    const field: unknown = value[key as keyof typeof value]
    if (field !== undefined && !isPlain(field, depth + 1)) return false
  }
  return true
}

function checkField(this: unknown, key: string, field: unknown): unknown {
  assertExact(this, key, field)
  return field
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
