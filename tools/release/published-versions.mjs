import { spawnSync } from 'node:child_process'

/**
 * Which versions the registry has of each package. A registry that cannot be asked is an error, and no empty list.
 *
 * @param {{ name: string }[]} packages
 * @returns {Map<string, string[]>}
 */
export function publishedVersions(packages) {
  return new Map(packages.map(({ name }) => [name, versionsOf(name)]))
}

/** @returns {string[]} */
function versionsOf(/** @type {string} */ name) {
  const { status, stdout } = spawnSync('npm', ['view', name, 'versions', '--json'], { encoding: 'utf8' })
  const answer = stdout === '' ? {} : JSON.parse(stdout)
  if (status === 0) return [answer].flat()
  if (answer.error?.code === 'E404') return []
  throw new Error(`The registry did not say which versions of ${name} it has: ${answer.error?.summary ?? stdout}`)
}
