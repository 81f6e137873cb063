// Every name that a package exports has a doc comment where it is declared.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { parseSync } from 'oxc-parser'
import { root } from './folders.mjs'

/** @typedef {{ name: string, file: string }} PublicName */

const parsed = new Map()

function parse(/** @type {string} */ file) {
  if (!parsed.has(file)) {
    const text = readFileSync(file, 'utf8')
    const { program, comments, module } = parseSync(file, text)
    parsed.set(file, { text, program, comments, module })
  }
  return /** @type {{ text: string } & ReturnType<typeof parseSync>} */ (parsed.get(file))
}

function entriesOf(/** @type {string} */ folder) {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return Object.values(exports)
    .map((target) => target['@holdfast/source'])
    .filter(Boolean)
    .map((path) => join(folder, path))
}

/** @returns {PublicName[]} where each exported name is declared, re-exports followed */
function namesOf(/** @type {string} */ file) {
  return parse(file).module.staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ moduleRequest, importName, localName, exportName }) => {
      if (moduleRequest === null) return [{ name: localName.name ?? exportName.name ?? '', file }]
      const source = join(dirname(file), moduleRequest.value)
      // What another package declares is documented there.
      if (!moduleRequest.value.startsWith('.') || !existsSync(source)) return []
      return namesOf(source).filter(({ name }) => name === (importName.name ?? exportName.name))
    }),
  )
}

/** One that ends where the statement of the name begins. */
function hasDocComment(/** @type {PublicName} */ { name, file }) {
  const { text, program, comments } = parse(file)
  const statement = program.body.find((node) => declares(node, name))
  if (statement === undefined) return isImported(file, name)
  return comments.some(
    ({ type, value, end }) =>
      type === 'Block' &&
      value.startsWith('*') &&
      end <= statement.start &&
      text.slice(end, statement.start).trim() === '',
  )
}

function declares(/** @type {any} */ node, /** @type {string} */ name) {
  const declaration = node.declaration ?? node
  if (declaration.type === 'VariableDeclaration')
    return declaration.declarations.some((/** @type {any} */ { id }) => id.name === name || id.type === 'ObjectPattern')
  return declaration.id?.name === name
}

/** `import type { X }` and then `export { X }`: declared elsewhere. */
function isImported(/** @type {string} */ file, /** @type {string} */ name) {
  return parse(file).module.staticImports.some(({ entries }) =>
    entries.some(({ localName }) => localName.value === name),
  )
}

/** @type {Set<string>} */
const missing = new Set()
for (const directory of readdirSync(join(root, 'packages'))) {
  for (const entry of entriesOf(join(root, 'packages', directory))) {
    for (const found of namesOf(entry)) {
      if (!hasDocComment(found)) missing.add(`${relative(root, found.file)}: ${found.name} has no doc comment`)
    }
  }
}
for (const fault of [...missing].toSorted()) console.error(fault)
process.exitCode = missing.size > 0 ? 1 : 0
