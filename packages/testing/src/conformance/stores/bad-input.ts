import type { ErrorCode } from '@holdfast/core'
import { rejectsWith } from './rejects-with.ts'

/** Strings that no store takes as an id, each with what is wrong with it. */
export const BAD_IDS: readonly (readonly [what: string, id: string])[] = [
  ['empty', ''],
  ['257 bytes', 'x'.repeat(257)],
  ['over 256 bytes in UTF-8 only', 'é'.repeat(129)],
  ['a lone surrogate', 'run-\ud800'],
  ['NUL', 'run\u0000'],
  ['a line feed', 'run\n1'],
  ['a carriage return', '\rrun'],
  ['DEL', 'run\u007f'],
  ['a C1 control', 'run\u0085'],
  ['a line separator', 'run\u2028'],
]

/** Strings that look odd and are good ids, all different. */
export const ODD_IDS: readonly string[] = [
  ' ',
  'x'.repeat(256),
  'é'.repeat(128),
  '\u00e9',
  'e\u0301',
  'ID',
  'id',
  "it's; drop table runs --",
  '%',
  '_',
  'a/b\\c',
  '__proto__',
  'constructor',
  'null',
  '0',
  '00',
  '😀',
  '\ufffd',
  'null bytes \\u0000',
]

export const BAD_TIMES: readonly number[] = [-1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]

/** No `limit` of a list. */
export const BAD_LIMITS: readonly number[] = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]

/** Epochs that no claim gives. */
export const BAD_EPOCHS: readonly number[] = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]

/** Each call is made with each bad id, and must be refused each time. */
export async function refusesBadIds(
  calls: Readonly<Record<string, (id: string) => Promise<unknown>>>,
  code: ErrorCode = 'INVALID_ID',
): Promise<void> {
  for (const [name, call] of Object.entries(calls)) {
    for (const [what, id] of BAD_IDS) await rejectsWith(code, () => call(id), `${name} with ${what}`)
  }
}

/** Each call is made with each bad value, and must be refused as `INVALID_ARGUMENT` each time. */
export async function refusesBadArguments<T>(
  values: readonly T[],
  calls: Readonly<Record<string, (value: T) => Promise<unknown>>>,
): Promise<void> {
  for (const [name, call] of Object.entries(calls)) {
    for (const value of values) await rejectsWith('INVALID_ARGUMENT', () => call(value), `${name} ${String(value)}`)
  }
}

/** Each call must be refused as `STORE_CLOSED`. */
export async function refusesClosed(calls: Readonly<Record<string, () => Promise<unknown>>>): Promise<void> {
  for (const [name, call] of Object.entries(calls)) await rejectsWith('STORE_CLOSED', call, name)
}
