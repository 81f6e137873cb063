import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

/**
 * What an app's bundle grows by when it uses this much, without packages that are not ours. In KiB, compressed; the
 * limits are a third above what was measured, so that a whole new part is noticed and a line is not.
 */
const USES = [
  {
    name: 'core: errors alone',
    limit: 1,
    code: `import { isHoldfastError } from '@holdfast/core'; use(isHoldfastError)`,
  },
  {
    name: 'core: memory stores',
    limit: 17,
    code: `import { createMemoryStores } from '@holdfast/core'; use(createMemoryStores)`,
  },
  {
    name: 'core: provider kit',
    limit: 1,
    code: `import { shellQuote } from '@holdfast/core/provider-kit'; use(shellQuote)`,
  },
  {
    name: 'middleware: chat routes',
    limit: 88,
    code: `import { createChatRoutes, defineSandbox, sandboxTools } from '@holdfast/middleware'; use(createChatRoutes, defineSandbox, sandboxTools)`,
  },
  {
    name: 'middleware: one route',
    limit: 60,
    code: `import { beginRun, withSandbox } from '@holdfast/middleware'; use(beginRun, withSandbox)`,
  },
  {
    name: 'provider-daytona',
    limit: 44,
    code: `import { daytonaProvider } from '@holdfast/provider-daytona'; use(daytonaProvider)`,
  },
  {
    name: 'store-drizzle: Postgres',
    limit: 40,
    code: `import { createPostgresStores } from '@holdfast/store-drizzle'; use(createPostgresStores)`,
  },
  {
    name: 'testing: memory provider',
    limit: 21,
    code: `import { memoryProvider } from '@holdfast/testing'; use(memoryProvider)`,
  },
]

/** @type {import('esbuild').Plugin} */
const othersExternal = {
  name: 'others-external',
  setup: (build) => {
    build.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('@holdfast/') ? undefined : { path, external: true },
    )
  },
}

/**
 * @param {string} folder a project that has every package
 * @param {(line: string) => void} note
 * @returns {Promise<string[]>} what is too large
 */
export async function sizeFaults(folder, note) {
  const faults = []
  for (const { name, limit, code } of USES) {
    const { outputFiles } = await build({
      stdin: { contents: `${code}\nfunction use(...names) { console.log(names) }`, resolveDir: folder },
      bundle: true,
      write: false,
      minify: true,
      format: 'esm',
      platform: 'node',
      plugins: [othersExternal],
      logLevel: 'error',
    })
    const size = gzipSync(outputFiles[0]?.contents ?? '').length / 1024
    note(`${name.padEnd(28)} ${size.toFixed(1).padStart(6)} KiB of ${limit}`)
    if (size > limit) faults.push(`${name}: ${size.toFixed(1)} KiB compressed, and ${limit} were set as its limit`)
  }
  return faults
}
