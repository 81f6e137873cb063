// Type-checks every TypeScript block of the guides and READMEs against the packages' sources. A block is a module of its
// own; the names that `docs/guides/code/reader-app.d.ts` declares stand for what the reader has by then.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { root } from '../folders.mjs'
import { readSnippets } from './read-snippets.mjs'

/** Inside the repository, so that packages are found; ignored by git. */
const target = join(root, 'docs', '.snippets')

function documents() {
  const guides = join(root, 'docs/guides')
  const packages = readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name, 'README.md'))
  const ours = [guides, join(root, 'docs/testing')].flatMap(markdownIn)
  return [join(root, 'README.md'), ...packages, ...ours]
}

function markdownIn(/** @type {string} */ folder) {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name))
}

/** @type {string[]} */
const faults = []
/** @type {string[]} */
const files = []

for (const document of documents()) {
  const place = relative(root, document)
  for (const { language, options, text, line } of readSnippets(document)) {
    if (language !== 'ts' && language !== 'tsx') continue
    const { file, from } = options
    if (from !== undefined) {
      const isExcerpt = readFileSync(join(root, from), 'utf8').includes(text.trim())
      if (!isExcerpt) faults.push(`${place}:${line}: no such lines in ${from}`)
      continue
    }
    const path = join(place.replace(/\.md$/, ''), file ?? `line-${line}.${language}`)
    mkdirSync(dirname(join(target, path)), { recursive: true })
    writeFileSync(join(target, path), file === undefined ? `${text}\nexport {}\n` : text)
    files.push(path)
  }
}

copyFileSync(join(root, 'docs/guides/code/reader-app.d.ts'), join(target, 'reader-app.d.ts'))
const compilerOptions = {
  composite: false,
  declaration: false,
  declarationMap: false,
  noEmit: true,
  module: 'esnext',
  moduleResolution: 'bundler',
  jsx: 'react-jsx',
  lib: ['es2023', 'es2024.string', 'dom', 'dom.iterable'],
}
const config = { extends: '../../tsconfig.base.json', compilerOptions, files: ['reader-app.d.ts', ...files] }
writeFileSync(join(target, 'tsconfig.json'), JSON.stringify(config))
const tsc = join(root, 'node_modules/typescript/bin/tsc')
const compiled = spawnSync(process.execPath, [tsc, '-p', target, '--pretty', 'false'], {
  cwd: target,
  encoding: 'utf8',
})
if (compiled.status !== 0) faults.push(compiled.stdout + compiled.stderr)
rmSync(target, { recursive: true, force: true })

for (const fault of faults) console.error(fault)
console.log(`${files.length} snippets compiled`)
process.exitCode = faults.length > 0 ? 1 : 0
