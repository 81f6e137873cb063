import { readFileSync } from 'node:fs'

/**
 * A fenced block. After the language may stand `file=path` (a file of the reader's app), `from=path` (an excerpt of a
 * file of this repository) and `run` (a step that the reader types).
 *
 * @typedef {{ language: string, options: Record<string, string>, text: string, line: number }} Snippet
 */

const FENCE = /^```(\w+)[ \t]*(.*)\n([\s\S]*?)^```$/gm

/**
 * @param {string} path of a Markdown file
 * @returns {Snippet[]}
 */
export function readSnippets(path) {
  const document = readFileSync(path, 'utf8')
  return [...document.matchAll(FENCE)].map(({ 1: language = '', 2: info = '', 3: text = '', index }) => {
    const words = info.split(/\s+/).filter(Boolean)
    const options = Object.fromEntries(words.map((word) => [word.split('=')[0] ?? '', word.split('=')[1] ?? '']))
    return { language, options, text, line: document.slice(0, index).split('\n').length }
  })
}
