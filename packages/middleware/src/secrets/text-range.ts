/** A part of a text or of bytes: from `start` up to, not including, `end`. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

/** The same parts in order, overlapping ones joined. */
export function mergeRanges(ranges: readonly TextRange[]): TextRange[] {
  const merged: TextRange[] = []
  for (const range of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = merged.at(-1)
    if (last === undefined || range.start >= last.end) merged.push(range)
    else merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, range.end) }
  }
  return merged
}
