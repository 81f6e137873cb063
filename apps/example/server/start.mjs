// Serves the built app, or with the argument `dev` its sources. Next.js runs in this process, so that a signal reaches
// the app, which lets its runs go before it exits.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const appDir = fileURLToPath(new URL('..', import.meta.url))
const { HOST, PORT, HOLDFAST_DIR, INIT_CWD } = process.env
const mode = process.argv[2] === 'dev' ? 'dev' : 'start'

process.env['NEXT_MANUAL_SIG_HANDLE'] = '1'
process.env['NEXT_TELEMETRY_DISABLED'] = '1'
process.env['HOLDFAST_DIR'] = HOLDFAST_DIR || join(INIT_CWD || process.cwd(), '.holdfast')

// Without a login, and with sandboxes that are processes of this machine, only this machine may connect.
process.argv.splice(2, Infinity, mode, appDir, '-p', PORT || '3000', '-H', HOST || '127.0.0.1')
createRequire(import.meta.url)('next/dist/bin/next')
