/** The trimmed text, or undefined when there is none. */
export function readText(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  return text === '' ? undefined : text
}

/** Whether a string was given that holds nothing. */
export function isBlankText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === ''
}

/** A finite number, also when it is given as text; `fallback` for anything unusable. */
export function readNumber<T>(value: unknown, fallback: T): number | T {
  if (typeof value === 'string' && value.trim() === '') return fallback
  if (typeof value !== 'number' && typeof value !== 'string') return fallback
  const number = Number(value)
  return Number.isFinite(number) ? number : fallback
}
