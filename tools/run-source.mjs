// Runs an export of a package's TypeScript module from its source: `node tools/run-source.mjs <file> <export> [arguments]`.
import { join } from 'node:path'
import { createServer, defaultServerConditions } from 'vite'
import { root } from './folders.mjs'

const [file = '', name = '', ...args] = process.argv.slice(2)
const conditions = ['@holdfast/source', ...defaultServerConditions]
const server = await createServer({
  root,
  configFile: false,
  logLevel: 'error',
  server: { middlewareMode: true, watch: null, hmr: false, ws: false },
  optimizeDeps: { noDiscovery: true },
  ssr: { resolve: { conditions } },
})
try {
  const module = await server.ssrLoadModule(join(root, file))
  await module[name](args)
} finally {
  await server.close()
}
