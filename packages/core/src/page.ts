import { InvalidInputError } from './errors/error-classes.ts'

/** Largest page that any list gives. */
export const MAX_PAGE_SIZE = 1_000

/** The page size to use; `INVALID_ARGUMENT` unless it is an integer, 1 … 1,000. */
export function assertPageSize(limit: number | undefined, defaultLimit: number): number {
  const size = limit ?? defaultLimit
  if (Number.isInteger(size) && size >= 1 && size <= MAX_PAGE_SIZE) return size
  throw new InvalidInputError('INVALID_ARGUMENT', `limit must be an integer, 1 … ${MAX_PAGE_SIZE}.`)
}

/** Where a page ended: the sort values of its last row. */
export type CursorValues = readonly (string | number)[]

/** An opaque cursor of the given values. */
export function encodeCursor(values: CursorValues): string {
  return Buffer.from(JSON.stringify(values), 'utf8').toString('base64url')
}

/** The values of a cursor whose types are `shape`; `INVALID_ARGUMENT` for anything that `encodeCursor` did not give. */
export function decodeCursor(cursor: string, shape: readonly ('string' | 'number')[]): (string | number)[] {
  const values = parsedCursor(cursor)
  const fits = Array.isArray(values) && values.length === shape.length
  if (fits && shape.every((type, index) => typeof values[index] === type)) return values as (string | number)[]
  throw new InvalidInputError('INVALID_ARGUMENT', 'cursor is not one that this list gave.')
}

function parsedCursor(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown
  } catch (error) {
    throw new InvalidInputError('INVALID_ARGUMENT', 'cursor is not one that this list gave.', { cause: error })
  }
}
