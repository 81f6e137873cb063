import { CorruptDataError } from '@holdfast/core'

/** Takes `count` items of the base from `from` on. */
type Copy = readonly [from: number, count: number]

/**
 * A list of JSON texts as what differs from another: JSON that holds, in order, `[from, count]` for items of the base
 * and any other value for an item of its own.
 */
export function encodeDifference(base: readonly string[], items: readonly string[]): string {
  const positions = new Map(base.map((item, index) => [item, index]))
  const parts: (Copy | string)[] = []
  for (const item of items) {
    const last = parts.at(-1)
    const next = typeof last === 'object' ? last[0] + last[1] : undefined
    const position = next !== undefined && base[next] === item ? next : positions.get(item)
    if (position === undefined) parts.push(item)
    else if (position === next && typeof last === 'object') parts[parts.length - 1] = [last[0], last[1] + 1]
    else parts.push([position, 1])
  }
  return `[${parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join(',')}]`
}

/** Whether a difference says nothing but "the whole base". */
export function isSameList(difference: string, base: readonly string[]): boolean {
  return difference === (base.length === 0 ? '[]' : `[[0,${base.length}]]`)
}

/** The list, each item as JSON text. */
export function applyDifference(base: readonly string[], difference: string): string[] {
  const parts = JSON.parse(difference) as unknown[]
  return parts.flatMap((part) => (isCopy(part) ? copied(base, part) : [JSON.stringify(part)]))
}

/** Items are objects or arrays that begin with text, so an array that begins with a number is a copy. */
function isCopy(part: unknown): part is Copy {
  return Array.isArray(part) && typeof part[0] === 'number'
}

function copied(base: readonly string[], [from, count]: Copy): readonly string[] {
  if (from + count <= base.length) return base.slice(from, from + count)
  throw new CorruptDataError('CORRUPT_DATA', 'A stored checkpoint takes more from its base than there is.')
}
