import { createTwoFilesPatch } from 'diff'

/** Larger contents are not compared. */
export const MAX_DIFFED_BYTES = 256 * 1024
const MAX_DIFF_CHARACTERS = 64 * 1024
/** Two texts without anything in common take long to compare. */
const DIFF_TIMEOUT_MS = 500

const CONTEXT_LINES = 3

export interface UnifiedDiff {
  readonly diff: string
  /** True when it was cut, or left out because it would have been too long. */
  readonly truncated?: true
}

/** A unified patch from `before` to `after`. A new or deleted file has `/dev/null` on the other side. */
export function unifiedDiff(
  path: string,
  before: string,
  after: string,
  type: 'create' | 'change' | 'delete',
): UnifiedDiff {
  if (isBinary(before) || isBinary(after)) return { diff: `Binary file ${path} differs\n` }
  if (before.length > MAX_DIFFED_BYTES || after.length > MAX_DIFFED_BYTES) return { diff: '', truncated: true }
  const patch = createTwoFilesPatch(
    before === '' && type !== 'delete' ? '/dev/null' : `a/${path}`,
    type === 'delete' ? '/dev/null' : `b/${path}`,
    before,
    after,
    undefined,
    undefined,
    { context: CONTEXT_LINES, timeout: DIFF_TIMEOUT_MS },
  )
  if (patch === undefined) return { diff: '', truncated: true }
  const text = patch.replace(/^=+\n/, '')
  if (text.length <= MAX_DIFF_CHARACTERS) return { diff: text }
  return { diff: text.slice(0, text.lastIndexOf('\n', MAX_DIFF_CHARACTERS) + 1), truncated: true }
}

/** As git decides it: a NUL among the first 8,000 characters. */
function isBinary(text: string): boolean {
  return text.slice(0, 8_000).includes('\0')
}
