// Writes docs/api from the doc comments of everything that the packages export. It is made, not kept: git ignores it.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { extraTool, installExtraTools } from './extra-tools.mjs'
import { root } from './folders.mjs'

/** Sources of every entry but package.json. */
function entryPoints() {
  return readdirSync(join(root, 'packages')).flatMap((directory) => {
    const folder = join(root, 'packages', directory)
    const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const sources = Object.values(exports).map((target) => target['@holdfast/source'])
    return sources.filter(Boolean).map((path) => join(folder, path))
  })
}

installExtraTools()
const folder = mkdtempSync(join(tmpdir(), 'holdfast-api-'))
try {
  const tsconfig = join(folder, 'tsconfig.json')
  const compilerOptions = {
    composite: false,
    customConditions: ['@holdfast/source'],
    typeRoots: [join(root, 'node_modules/@types')],
    rootDir: root,
  }
  const files = entryPoints()
  writeFileSync(tsconfig, JSON.stringify({ extends: join(root, 'tsconfig.base.json'), compilerOptions, files }))
  const options = {
    name: 'Holdfast',
    readme: join(root, 'README.md'),
    entryPoints: files,
    tsconfig,
    basePath: join(root, 'packages'),
    displayBasePath: join(root, 'packages'),
    out: join(root, 'docs/api'),
    disableSources: true,
    excludeExternals: true,
    excludePrivate: true,
    excludeInternal: true,
    // A type that is part of a signature and not itself exported is shown where it stands.
    validation: { notExported: false, invalidLink: true, invalidPath: false },
    treatValidationWarningsAsErrors: true,
    externalSymbolLinkMappings: { '@tanstack/ai': { '*': 'https://tanstack.com/ai' } },
  }
  const file = join(folder, 'typedoc.json')
  writeFileSync(file, JSON.stringify(options))
  const { status } = spawnSync(process.execPath, [extraTool('typedoc/bin/typedoc'), '--options', file], {
    cwd: root,
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
