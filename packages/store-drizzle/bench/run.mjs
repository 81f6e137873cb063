// Bundles the benchmark, because Node 20 does not run TypeScript, and runs it.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'

const root = join(import.meta.dirname, '..')
const outDir = mkdtempSync(join(root, 'bench/.run-'))
try {
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: [/^@holdfast\//], resolve: { conditions: ['@holdfast/source', 'node', 'import'] } },
    build: {
      ssr: join(root, 'bench/store.bench.ts'),
      outDir,
      emptyOutDir: false,
      target: 'node20',
      rolldownOptions: { output: { entryFileNames: 'bench.mjs' } },
    },
  })
  const { status } = spawnSync(process.execPath, [join(outDir, 'bench.mjs')], { stdio: 'inherit' })
  process.exitCode = status ?? 1
} finally {
  rmSync(outDir, { recursive: true, force: true })
}
