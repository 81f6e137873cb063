import { join } from 'node:path'
import { extraTool } from '../extra-tools.mjs'
import { root } from '../folders.mjs'
import { tryProgram } from '../run-program.mjs'

/** @typedef {import('./stranger-project.mjs').StrangerProject} StrangerProject */

const SETTINGS = {
  node16: { module: 'node16', lib: ['es2023'] },
  nodenext: { module: 'nodenext', lib: ['es2023'] },
  bundler: { module: 'esnext', moduleResolution: 'bundler', lib: ['es2023', 'dom', 'dom.iterable'] },
}

const STRICT = {
  target: 'es2023',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
  types: ['node'],
}

const COMPILERS = {
  'TypeScript 7': join(root, 'node_modules/typescript/bin/tsc'),
  'TypeScript 5': extraTool('typescript/bin/tsc'),
}

/** @typedef {keyof typeof SETTINGS} Setting */

export const ALL_SETTINGS = /** @type {Setting[]} */ (Object.keys(SETTINGS))

/**
 * Type-checks the entries and programs of a project with each setting. Declarations of other packages are checked too,
 * but their faults are only counted.
 *
 * @param {StrangerProject} project
 * @param {{ entries: string[], files: string[], checks: [keyof typeof COMPILERS, Setting][] }} what
 * @returns {Promise<string[]>} what is wrong
 */
export async function typeFaults(project, { entries, files, checks }) {
  const imports = entries.map((entry, index) => `export * as entry${index} from '${entry}'\n`)
  project.write('entries.ts', imports.join(''))
  const faults = []
  for (const [compiler, setting] of checks) {
    const config = `tsconfig.${setting}.json`
    const compilerOptions = { ...STRICT, ...SETTINGS[setting] }
    project.write(config, JSON.stringify({ compilerOptions, files: ['entries.ts', ...files] }))
    const found = await compile(project, compiler, config)
    faults.push(...found.map((fault) => `${compiler}, ${setting}: ${fault}`))
  }
  return faults
}

/** @returns {Promise<string[]>} */
async function compile(
  /** @type {StrangerProject} */ { folder },
  /** @type {keyof typeof COMPILERS} */ compiler,
  /** @type {string} */ config,
) {
  const args = [COMPILERS[compiler], '-p', config, '--pretty', 'false']
  const { status, stdout, stderr } = await tryProgram(process.execPath, args, { cwd: folder })
  if (status === 0) return []
  const faults = stdout.split('\n').filter((line) => /^\S.*error TS\d+/.test(line))
  if (faults.length === 0) return [`tsc ended with ${status}: ${stdout}${stderr}`]
  return faults.filter((line) => !line.includes('node_modules/') || line.includes('node_modules/@holdfast/'))
}
