import { run } from './pack-packages.mjs'

/**
 * Publishes tarballs as they are. Provenance needs the identity that a CI service gives; a local registry has none.
 *
 * @param {{ name: string, version: string, tarball: string }[]} packages
 * @param {{ registry?: string, userconfig?: string, provenance?: boolean }} [options]
 */
export function publish(packages, { registry, userconfig, provenance = true } = {}) {
  const options = [
    '--access=public',
    `--provenance=${provenance}`,
    ...(registry ? [`--registry=${registry}`] : []),
    ...(userconfig ? [`--userconfig=${userconfig}`] : []),
  ]
  for (const { name, version, tarball } of packages) {
    run('npm', ['publish', tarball, ...options])
    console.log(`published ${name} ${version}`)
  }
}
