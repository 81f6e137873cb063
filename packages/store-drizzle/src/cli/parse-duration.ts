import { InvalidInputError } from '@holdfast/core'

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `90d`, `12h`, `30m`, `45s` in milliseconds; `INVALID_CONFIGURATION` for anything else. */
export function parseDuration(option: string, text: string): number {
  const [, amount, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? []
  const unitMs = UNIT_MS[unit]
  if (amount !== undefined && unitMs !== undefined) return Number(amount) * unitMs
  throw new InvalidInputError('INVALID_CONFIGURATION', `${option} must be a number with s, m, h or d, as 30d.`)
}
