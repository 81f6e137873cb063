import { CorruptDataError } from '@holdfast/core'
import type { Row } from './statement.ts'

/** Columns as JavaScript values, whatever a driver or an app's own type parsers made of them. */

export function text(row: Row, column: string): string {
  const value = row[column]
  if (typeof value === 'string') return value
  throw corrupt(column)
}

export function maybeText(row: Row, column: string): string | undefined {
  return row[column] == null ? undefined : text(row, column)
}

/** A 64-bit integer arrives as text, number or bigint, depending on the driver. */
export function number(row: Row, column: string): number {
  const value = row[column]
  const result = value == null || typeof value === 'object' ? Number.NaN : Number(value)
  if (Number.isNaN(result)) throw corrupt(column)
  return result
}

export function maybeNumber(row: Row, column: string): number | undefined {
  return row[column] == null ? undefined : number(row, column)
}

export function isTrue(row: Row, column: string): boolean {
  return row[column] === true
}

export function bytesOf(row: Row, column: string): Uint8Array {
  const value = row[column]
  if (value instanceof Uint8Array) return value
  throw corrupt(column)
}

function corrupt(column: string): CorruptDataError {
  return new CorruptDataError('CORRUPT_DATA', `Column ${column} does not hold what this version of the package reads.`)
}
