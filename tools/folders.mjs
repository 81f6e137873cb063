// Imports nothing but Node itself, for what runs before anything is installed.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Relative to the root, as the packages' folders are. */
export const exampleFolder = join('apps', 'example')

export const packageFolders = readdirSync(join(root, 'packages'))
  .map((name) => join('packages', name))
  .filter((folder) => existsSync(join(root, folder, 'package.json')))
