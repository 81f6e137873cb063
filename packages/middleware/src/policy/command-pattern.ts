/** One blank between words, none at the ends, so that spacing never decides. */
export function collapseBlanks(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ')
}

/** Whether the whole `text` is what the pattern says. `*` stands for any text, also none, blanks and slashes included. */
export function matchesPattern(pattern: string, text: string): boolean {
  const [first = '', ...rest] = collapseBlanks(pattern).split('*')
  const subject = collapseBlanks(text)
  const last = rest.pop()
  if (last === undefined) return subject === first
  if (!subject.startsWith(first)) return false
  let at = first.length
  for (const literal of rest) {
    const found = subject.indexOf(literal, at)
    if (found < 0) return false
    at = found + literal.length
  }
  return subject.length - last.length >= at && subject.endsWith(last)
}
