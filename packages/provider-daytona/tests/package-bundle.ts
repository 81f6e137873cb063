import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { spawn } from 'node:child_process'
import { build } from 'vite'

export interface PackageBundle {
  /** Sources of the package and of core that are loaded when the package is imported. */
  eagerModules: readonly string[]
  /** Runs a module in a fresh process; `provider` stands for this package in its imports. */
  run: (source: string, env?: Record<string, string>) => Promise<{ stdout: string; exitCode: number | null }>
  remove: () => Promise<void>
}

/** This package and core as plain JavaScript, for tests that need a process of their own. */
export async function bundlePackage(): Promise<PackageBundle> {
  const packageDir = join(import.meta.dirname, '..')
  const parent = join(packageDir, 'node_modules', '.cache')
  await mkdir(parent, { recursive: true })
  // Below the package, so that its dependencies are found.
  const dir = await mkdtemp(join(parent, 'bundle-'))
  const built = await build({
    configFile: false,
    logLevel: 'error',
    root: packageDir,
    ssr: { noExternal: [/^@holdfast\//], resolve: { conditions: ['@holdfast/source', 'module', 'node'] } },
    build: {
      ssr: join(packageDir, 'src', 'index.ts'),
      outDir: dir,
      emptyOutDir: false,
      minify: false,
      // Node does not leave out what is not used either.
      rolldownOptions: { treeshake: false },
    },
  })
  const run: PackageBundle['run'] = (source, env = {}) =>
    new Promise((resolve, reject) => {
      const code = source.replaceAll("'provider'", JSON.stringify(join(dir, 'index.js')))
      const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
        cwd: dir,
        // A number in colours is none to who reads it.
        env: { ...process.env, FORCE_COLOR: '0', ...env },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let stdout = ''
      child.stdout.on('data', (data: Buffer) => (stdout += data.toString()))
      const limit = setTimeout(() => child.kill('SIGKILL'), 25_000)
      child.once('error', reject)
      child.once('close', (exitCode) => {
        clearTimeout(limit)
        resolve({ stdout, exitCode })
      })
    })
  return { eagerModules: eagerModules(built), run, remove: () => rm(dir, { recursive: true, force: true }) }
}

/** All that the entry reaches by static imports. */
function eagerModules(built: Awaited<ReturnType<typeof build>>): string[] {
  const outputs = [built].flat().flatMap((result) => ('output' in result ? result.output : []))
  const chunks = outputs.filter((output) => output.type === 'chunk')
  const reached = new Set(chunks.filter(({ isEntry }) => isEntry))
  // A set that grows is walked to its end.
  for (const { imports } of reached) {
    for (const chunk of chunks) if (imports.includes(chunk.fileName)) reached.add(chunk)
  }
  return [...reached].flatMap(({ moduleIds }) => moduleIds)
}
