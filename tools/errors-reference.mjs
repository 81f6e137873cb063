// Writes docs/errors.md from the codes in core. With --check it fails when the file is out of date.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'
import { root } from './folders.mjs'

const source = join(root, 'packages/core/src/errors/error-codes.ts')
const target = join(root, 'docs/errors.md')

/** @typedef {{ code: string, meaning: string, position: number }} Entry */

/** @returns {{ title: string, entries: Entry[] }[]} the codes, grouped by the line comments between them */
function readGroups() {
  const text = readFileSync(source, 'utf8')
  const { program, comments } = parseSync(source, text)
  const entries = findProperties(program)
  const titles = comments.filter((comment) => comment.type === 'Line')
  return titles.map((comment, index) => {
    const end = titles[index + 1]?.start ?? text.length
    const inGroup = entries.filter((entry) => entry.position > comment.start && entry.position < end)
    return { title: comment.value.trim(), entries: inGroup }
  })
}

/** @returns {Entry[]} */
function findProperties(/** @type {import('oxc-parser').Program} */ program) {
  for (const statement of program.body) {
    if (statement.type !== 'ExportNamedDeclaration' || statement.declaration?.type !== 'VariableDeclaration') continue
    const [declarator] = statement.declaration.declarations
    const init = declarator?.init?.type === 'TSAsExpression' ? declarator.init.expression : declarator?.init
    if (init?.type !== 'ObjectExpression') continue
    return init.properties.flatMap((property) => {
      if (property.type !== 'Property' || property.key.type !== 'Identifier' || property.value.type !== 'Literal')
        return []
      return [{ code: property.key.name, meaning: String(property.value.value), position: property.start }]
    })
  }
  throw new Error(`No code table in ${source}.`)
}

function render() {
  const lines = [
    '# Errors',
    '',
    'Every reason that Holdfast gives for an error. Generated from `packages/core/src/errors/error-codes.ts`.',
    '',
  ]
  lines.push(
    'Recognise them with `isHoldfastError(error, code)`. `retryable` on the error says whether the same call may succeed later.',
    '',
  )
  for (const { title, entries } of readGroups()) {
    lines.push(
      `## ${title.charAt(0).toUpperCase()}${title.slice(1)}`,
      '',
      '| code | what it means, what to do |',
      '|---|---|',
    )
    for (const { code, meaning } of entries) lines.push(`| \`${code}\` | ${meaning.replaceAll('|', '\\|')} |`)
    lines.push('')
  }
  return lines.join('\n')
}

const text = render()
if (!process.argv.includes('--check')) writeFileSync(target, text)
else if (readFileSync(target, 'utf8') !== text) {
  console.error('docs/errors.md is out of date: run `npm run docs:errors`.')
  process.exit(1)
}
