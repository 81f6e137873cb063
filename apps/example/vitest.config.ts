import { basename } from 'node:path'
import { defineConfig, mergeConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { packageTests } from '../../tools/vitest.base.ts'

/** So that none of them is alone at the end. */
const LONGEST_FIRST = ['lifecycle', 'durable-chat', 'lost-host', 'pages', 'dev-server', 'approvals', 'replicas']

class E2eSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = LONGEST_FIRST.indexOf(basename(moduleId, '.test.ts'))
      return place === -1 ? LONGEST_FIRST.length : place
    }
    return files.toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}

/** Browser tests wait for pages and servers most of the time: two files at once, as everywhere. */
const e2e = { test: { testTimeout: 120_000, hookTimeout: 120_000, sequence: { sequencer: E2eSequencer } } }

/** The same tests with every sandbox on a Daytona service, but those of pages and of the development server. */
const onDaytona = {
  test: {
    // The service is a process more, which some tests look at in moments: one file after the other.
    fileParallelism: false,
    env: { HOLDFAST_E2E_HOST: 'daytona' },
    exclude: ['**/pages.test.ts', '**/dev-server.test.ts'],
  },
}

export default defineConfig(async (env) => {
  const isOnDaytona = env.mode === 'e2e-daytona'
  const mode = isOnDaytona ? 'e2e' : env.mode
  const base = packageTests(import.meta.dirname)
  const config = await (typeof base === 'function' ? base({ ...env, mode }) : base)
  if (mode !== 'e2e') return config
  return mergeConfig(mergeConfig(config, e2e), isOnDaytona ? onDaytona : {})
})
