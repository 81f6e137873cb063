import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { defaultClientConditions, defaultServerConditions } from 'vite'
import { defineConfig, type TestProjectInlineConfiguration, type ViteUserConfig } from 'vitest/config'

/** Lets a test import the packages' TypeScript sources, so that it needs no build. */
const SOURCE_CONDITION = '@holdfast/source'

/**
 * Many tests wait for processes and servers more than they compute, so two files run at once even on two cores. No test
 * of logic depends on these times; they only end what hangs.
 */
const PACE = { maxWorkers: 2, testTimeout: 30_000, hookTimeout: 60_000 }

/** Of tests that replace a module: what an earlier file has loaded cannot be replaced. */
const ISOLATED = '**/*.isolated.test.ts'
/** Type tests have no run time; the typecheck target covers them. */
const TYPES = '**/*.types.test.ts'

const everyRun = ['unit', 'conformance', 'concurrency']

/** Vitest hands these to Node for what it does not transform, and Node cannot load every package's `module` build. */
const serverConditions = defaultServerConditions.filter((condition) => condition !== 'module')

/** `npx vitest run --mode live` (or `--mode e2e`) runs that folder alone. */
function foldersOf(mode: string): string[] {
  return mode === 'live' || mode === 'e2e' ? [mode] : everyRun
}

/** Loading the sources anew for every file takes as long as a third of the tests. */
function projectsOf(include: string[]): TestProjectInlineConfiguration[] {
  return [
    { extends: true, test: { name: 'shared', isolate: false, include, exclude: [TYPES, ISOLATED] } },
    { extends: true, test: { name: 'isolated', include: [ISOLATED] } },
  ]
}

/** The tests of a package in `tests/`, or those that `everyTest` names. */
export function packageTests(packageDir: string, everyTest?: string[]): ReturnType<typeof defineConfig> {
  return defineConfig(({ mode }): ViteUserConfig => {
    const folders = foldersOf(mode)
    const include = everyTest ?? folders.map((folder) => `tests/${folder}/**/*.test.ts`)
    return {
      root: packageDir,
      resolve: { conditions: [SOURCE_CONDITION, ...defaultClientConditions] },
      ssr: { resolve: { conditions: [SOURCE_CONDITION, ...serverConditions] } },
      test: {
        ...(folders === everyRun ? { projects: projectsOf(include) } : { include, exclude: [TYPES] }),
        passWithNoTests: !folders.some((folder) => existsSync(join(packageDir, 'tests', folder))),
        ...PACE,
        restoreMocks: true,
        unstubEnvs: true,
      },
    }
  })
}
