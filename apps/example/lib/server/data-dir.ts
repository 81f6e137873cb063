import { resolve } from 'node:path'

/** Where the embedded store and local sandboxes keep their files. */
export const dataDir = resolve(/* turbopackIgnore: true */ process.env['HOLDFAST_DIR'] ?? '.holdfast')
