// Serves the built app. Same process as Next.js, so that a signal reaches the app, which lets its runs go first.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const appDir = fileURLToPath(new URL('..', import.meta.url))
const { HOST, PORT, HOLDFAST_DIR, INIT_CWD } = process.env

process.env['NEXT_MANUAL_SIG_HANDLE'] = '1'
process.env['NEXT_TELEMETRY_DISABLED'] = '1'
process.env['HOLDFAST_DIR'] = HOLDFAST_DIR || join(INIT_CWD || process.cwd(), '.holdfast')

// Without a login, and with sandboxes that are processes of this machine, only this machine may connect.
process.argv.splice(2, Infinity, 'start', appDir, '-p', PORT || '3000', '-H', HOST || '127.0.0.1')
createRequire(import.meta.url)('next/dist/bin/next')
