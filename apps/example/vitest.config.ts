import { defineConfig, mergeConfig } from 'vitest/config'
import { packageTests } from '../../tools/vitest.base.ts'

/** Browser tests share the machine with real servers, and some look at moments: one file after the other. */
const e2e = { test: { testTimeout: 120_000, hookTimeout: 120_000, fileParallelism: false } }

/** The same tests with every sandbox on a Daytona service, but those of pages and of the development server. */
const onDaytona = {
  test: { env: { HOLDFAST_E2E_HOST: 'daytona' }, exclude: ['**/pages.test.ts', '**/dev-server.test.ts'] },
}

export default defineConfig(async (env) => {
  const isOnDaytona = env.mode === 'e2e-daytona'
  const mode = isOnDaytona ? 'e2e' : env.mode
  const base = packageTests(import.meta.dirname)
  const config = await (typeof base === 'function' ? base({ ...env, mode }) : base)
  if (mode !== 'e2e') return config
  return mergeConfig(mergeConfig(config, e2e), isOnDaytona ? onDaytona : {})
})
