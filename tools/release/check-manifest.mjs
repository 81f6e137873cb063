/** @typedef {import('./pack-packages.mjs').PackedPackage} PackedPackage */

/** Ranges that mean something only in the tree they were written in. */
export const LOCAL_RANGE = /^(workspace|file|link|portal|catalog|git|https?):/

const FIELDS = /** @type {const} */ (['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'])

/** Of these there must be one copy in an app, so they are peers. */
export const SHARED_PEERS = ['@tanstack/ai', '@holdfast/core']
const MAX_SUB_PATHS = 2

/**
 * What is wrong with the package.json of one package.
 *
 * @param {PackedPackage} pkg
 * @param {PackedPackage[]} all
 * @returns {string[]}
 */
export function manifestFaults({ name, manifest }, all) {
  const faults = [...metadataFaults(manifest), ...localRanges(manifest)]
  for (const shared of SHARED_PEERS.filter((peer) => peer !== name)) {
    if (manifest['dependencies']?.[shared]) faults.push(`${shared} must be a peer: an app has one copy of it`)
    if (!manifest['peerDependencies']?.[shared]) faults.push(`${shared} is missing from peerDependencies`)
  }
  for (const field of FIELDS) {
    for (const [dependency, range] of Object.entries(manifest[field] ?? {})) {
      const ours = all.find((other) => other.name === dependency)
      if (ours && !acceptsCaret(range, ours.version))
        faults.push(`${field}: ${dependency} ${range} does not accept ${ours.version}`)
    }
  }
  return faults
}

/** @returns {string[]} */
function metadataFaults(/** @type {Record<string, any>} */ manifest) {
  const faults = []
  const texts = ['name', 'version', 'description', 'homepage', 'license', 'bugs']
  for (const field of texts.filter((text) => typeof manifest[text] !== 'string')) faults.push(`${field} is missing`)
  if (!Array.isArray(manifest['keywords']) || manifest['keywords'].length < 3) faults.push('keywords are missing')
  if (manifest['type'] !== 'module') faults.push('type must be module')
  if (manifest['sideEffects'] !== false) faults.push('sideEffects must be false')
  if (!manifest['repository']?.directory) faults.push('repository.directory is missing: provenance compares it')
  if (manifest['publishConfig']?.provenance !== true) faults.push('publishConfig.provenance must be true')
  if (manifest['publishConfig']?.access !== 'public') faults.push('publishConfig.access must be public')
  if (!manifest['engines']?.node) faults.push('engines.node is missing')
  for (const script of ['preinstall', 'install', 'postinstall', 'prepare'])
    if (manifest['scripts']?.[script]) faults.push(`scripts.${script} would run, or be refused, at a stranger's`)
  const subPaths = Object.keys(manifest['exports'] ?? {}).filter((path) => path !== '.' && path !== './package.json')
  if (subPaths.length > MAX_SUB_PATHS) faults.push(`more than ${MAX_SUB_PATHS} sub-paths: ${subPaths.join(', ')}`)
  return faults
}

/**
 * Ranges that no registry understands, of a package.json or of what a registry answers about a version.
 *
 * @param {Record<string, any>} manifest
 * @returns {string[]}
 */
export function localRanges(manifest) {
  return FIELDS.flatMap((field) =>
    Object.entries(manifest[field] ?? {})
      .filter(([, range]) => LOCAL_RANGE.test(range) || range === '*' || range === '')
      .map(([dependency, range]) => `${field}: ${dependency} is "${range}"`),
  )
}

/**
 * Third-party packages that two packages want in different ranges.
 *
 * @param {PackedPackage[]} all
 * @returns {string[]}
 */
export function disagreements(all) {
  /** @type {Map<string, Map<string, string[]>>} */
  const ranges = new Map()
  for (const { name, manifest } of all) {
    for (const [dependency, range] of Object.entries({
      ...manifest['peerDependencies'],
      ...manifest['dependencies'],
    })) {
      const users = ranges.get(dependency) ?? new Map()
      users.set(range, [...(users.get(range) ?? []), name])
      ranges.set(dependency, users)
    }
  }
  return [...ranges]
    .filter(([, users]) => users.size > 1)
    .map(
      ([dependency, users]) =>
        `${dependency}: ${[...users].map(([range, who]) => `${range} in ${who.join(', ')}`).join('; ')}`,
    )
}

/** Our own ranges are plain carets. */
function acceptsCaret(/** @type {string} */ range, /** @type {string} */ version) {
  const parts = (/** @type {string} */ text) => text.split('.').map(Number)
  const [wantedMajor = 0, wantedMinor = 0, wantedPatch = 0] = parts(range.replace(/^\^/, ''))
  const [major = 0, minor = 0, patch = 0] = parts(version)
  if (!range.startsWith('^') || major !== wantedMajor) return false
  if (major === 0) return minor === wantedMinor && patch >= wantedPatch
  return minor > wantedMinor || (minor === wantedMinor && patch >= wantedPatch)
}
