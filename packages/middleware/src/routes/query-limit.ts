import { InvalidInputError } from '@holdfast/core'

const MAX_LIMIT = 1_000
const DEFAULT_LIMIT = 100

/** `?limit=`, 1 … 1,000. */
export function limitOf(query: URLSearchParams): number {
  const text = query.get('limit')
  if (text === null) return DEFAULT_LIMIT
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit
  throw new InvalidInputError('INVALID_ARGUMENT', `limit must be a whole number from 1 to ${MAX_LIMIT}.`)
}
