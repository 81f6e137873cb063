import { readFileSync } from 'node:fs'
import { parseSync } from 'oxc-parser'

/** `import('name')` in a declaration, which is a type and no expression. */
const TYPE_IMPORT = /\bimport\(\s*['"]([^'"]+)['"]/g

/**
 * Every module that a built file or a declaration names with a constant.
 *
 * @param {string} file
 * @returns {string[]}
 */
export function moduleImports(file) {
  const text = readFileSync(file, 'utf8')
  const { module, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`)
  const reexports = module.staticExports.flatMap(({ entries }) => entries.map(({ moduleRequest }) => moduleRequest))
  const dynamic = module.dynamicImports.map(({ moduleRequest }) => text.slice(moduleRequest.start, moduleRequest.end))
  const names = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...reexports.flatMap((request) => (request ? [request.value] : [])),
    ...dynamic.filter((source) => /^['"].*['"]$/.test(source)).map((source) => source.slice(1, -1)),
    ...(file.endsWith('.d.ts') ? [...text.matchAll(TYPE_IMPORT)].map(([, name = '']) => name) : []),
  ]
  return [...new Set(names)]
}

/** @param {string} specifier */
export const packageOf = (specifier) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
