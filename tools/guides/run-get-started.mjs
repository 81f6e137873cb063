import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { root } from '../folders.mjs'
import { runProgram } from '../run-program.mjs'
import { readSnippets } from './read-snippets.mjs'
import { useGetStarted } from './use-get-started.mjs'

const MAX_OWN_LINES = 60

/**
 * Does what docs/guides/get-started.md says, in `folder`, with the packages of `registry`; then uses the app.
 *
 * @param {{ folder: string, registry: string, note: (line: string) => void }} where
 * @returns {Promise<string[]>} what went wrong
 */
export async function getStartedFaults({ folder, registry, note }) {
  mkdirSync(folder, { recursive: true })
  const env = { npm_config_userconfig: userConfig(folder, registry), NEXT_TELEMETRY_DISABLED: '1' }
  let cwd = folder
  let ownLines = 0
  for (const { language, options, text } of orderedSteps()) {
    if (options['file'] !== undefined) {
      mkdirSync(dirname(join(cwd, options['file'])), { recursive: true })
      writeFileSync(join(cwd, options['file']), text)
      ownLines += linesOfCode(text)
    } else if (language === 'sh') for (const line of text.trim().split('\n')) cwd = await typeLine(line, cwd, env)
  }
  note(`${ownLines} lines of own code, of ${MAX_OWN_LINES}`)
  await useGetStarted(cwd, env)
  return ownLines < MAX_OWN_LINES ? [] : [`The guide needs ${ownLines} lines of own code.`]
}

const linesOfCode = (/** @type {string} */ text) =>
  text.split('\n').filter((line) => line.trim() !== '' && !line.trim().startsWith('//')).length

/** The user's own settings, and where our packages are. (A shell drops a variable with `@` in its name.) */
function userConfig(/** @type {string} */ folder, /** @type {string} */ registry) {
  const own = process.env['npm_config_userconfig'] ?? join(homedir(), '.npmrc')
  const path = join(folder, 'user.npmrc')
  writeFileSync(path, `${existsSync(own) ? readFileSync(own, 'utf8') : ''}\n@holdfast:registry=${registry}\n`)
  return path
}

/** In the order of the page: files are written where they stand, steps are typed where they stand. */
function orderedSteps() {
  const all = readSnippets(join(root, 'docs/guides/get-started.md'))
  return all.filter(({ options }) => 'file' in options || 'run' in options)
}

/** @returns {Promise<string>} the folder that one is in afterwards */
async function typeLine(/** @type {string} */ line, /** @type {string} */ cwd, /** @type {NodeJS.ProcessEnv} */ env) {
  if (line.startsWith('cd ')) return resolve(cwd, line.slice(3))
  const quiet = line.startsWith('npm install') ? `${line} --no-audit --no-fund --prefer-offline --ignore-scripts` : line
  await runProgram(quiet, [], { cwd, env, shell: true })
  return cwd
}
