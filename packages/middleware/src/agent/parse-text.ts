import type { ParseAgent } from './agent-parser.ts'

/** Every line is part of the answer. */
export const parseText: ParseAgent = (chunks) => {
  let lineEnd = ''
  return {
    line(text) {
      const delta = lineEnd + text
      lineEnd = '\n'
      return chunks.text(delta)
    },
  }
}
