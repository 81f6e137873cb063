import { mkdirSync, readFileSync, readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { runProgram } from '../run-program.mjs'

/** @typedef {import('./clients.mjs').Client} Client */

const ONE_COPY = ['@tanstack/ai', '@holdfast/core']
/** A stranger who writes TypeScript for Node has these. */
const NODE_TYPES = '@types/node@20'

/** An empty folder outside the repository, with packages as a stranger gets them. */
export class StrangerProject {
  constructor(/** @type {string} */ folder, /** @type {string} */ node = process.execPath) {
    this.folder = folder
    this.node = node
  }

  static create(/** @type {string} */ folder, /** @type {string} */ registry) {
    const project = new StrangerProject(folder)
    project.write('.npmrc', `@holdfast:registry=${registry}\n`)
    project.write('package.json', JSON.stringify({ name: 'stranger', private: true, type: 'module' }))
    return project
  }

  write(/** @type {string} */ path, /** @type {string} */ text) {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true })
    writeFileSync(join(this.folder, path), text)
  }

  async install(/** @type {Client} */ { command: [program = '', ...args], env }, /** @type {string[]} */ packages) {
    // The client always runs on this process's own Node: the other versions are for what was installed.
    await this.#run(program, [...args, ...packages, NODE_TYPES], { env })
  }

  /** Runs a script of the project on the chosen Node and gives what it printed. */
  runNode(/** @type {string[]} */ args, /** @type {{ cwd?: string, env?: Record<string, string> }} */ options = {}) {
    return this.#run(this.node, args, options)
  }

  /** A program that an installed package brings along. */
  runBin(/** @type {string} */ name, /** @type {string[]} */ args, /** @type {{ cwd?: string }} */ options = {}) {
    return this.#run(join(this.folder, 'node_modules', '.bin', name), args, options)
  }

  /** Folders of every installed copy of a package. */
  copiesOf(/** @type {string} */ name) {
    return [...new Set(findCopies(join(this.folder, 'node_modules'), name).map((path) => realpathSync(path)))]
  }

  doubleCopies() {
    return ONE_COPY.filter((name) => this.copiesOf(name).length > 1)
  }

  #run(
    /** @type {string} */ program,
    /** @type {string[]} */ args,
    /** @type {import('../run-program.mjs').RunOptions} */ { cwd = this.folder, env = {} } = {},
  ) {
    const PATH = [dirname(this.node), process.env['PATH']].join(delimiter)
    return runProgram(program, args, { cwd, env: { ...env, PATH } })
  }
}

/** @returns {string[]} */
function findCopies(/** @type {string} */ modules, /** @type {string} */ name) {
  const own = join(modules, name)
  const nested = packageFolders(modules).flatMap((folder) => findCopies(join(folder, 'node_modules'), name))
  return isPackage(own) ? [own, ...nested] : nested
}

/** Links lead to what is found elsewhere, except that pnpm keeps everything in one folder of its own. */
function packageFolders(/** @type {string} */ modules) {
  return entriesOf(modules).flatMap((entry) => {
    const path = join(modules, entry.name)
    if (entry.name === '.pnpm') return entriesOf(path).map((kept) => join(path, kept.name))
    if (!entry.isDirectory() || entry.name.startsWith('.')) return []
    if (!entry.name.startsWith('@')) return [path]
    return entriesOf(path).flatMap((scoped) => (scoped.isDirectory() ? [join(path, scoped.name)] : []))
  })
}

function entriesOf(/** @type {string} */ folder) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (isErrno(error, ['ENOENT', 'ENOTDIR'])) return []
    throw error
  }
}

function isPackage(/** @type {string} */ folder) {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version !== undefined
  } catch (error) {
    if (isErrno(error, ['ENOENT', 'ENOTDIR'])) return false
    throw error
  }
}

function isErrno(/** @type {unknown} */ error, /** @type {string[]} */ codes) {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
