import { InvalidInputError } from '@holdfast/core'

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

const DURATION = /^(\d+(?:\.\d+)?)([smhd])$/

/** A span of time: a whole or decimal number and one unit. */
export type Duration = `${number}${keyof typeof UNIT_MS}`

/** Milliseconds of `30s`, `30m`, `2h` or `1d`. `INVALID_CONFIGURATION` for anything else; `name` is the option's. */
export function parseDuration(name: string, text: string): number {
  const match = DURATION.exec(text)
  const ms = match === null ? Number.NaN : Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]
  if (Number.isSafeInteger(Math.round(ms)) && ms > 0) return Math.round(ms)
  const message = `${name} must be a positive number with a unit s, m, h or d, as "30m" or "2h"; got ${JSON.stringify(text)}.`
  throw new InvalidInputError('INVALID_CONFIGURATION', message, { details: { option: name } })
}
