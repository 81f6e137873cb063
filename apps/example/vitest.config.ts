import { defineConfig, mergeConfig } from 'vitest/config'
import { packageTests } from '../../tools/vitest.base.ts'

/** Browser tests share the machine with real servers, so they run one file after the other and may take a while. */
const e2e = { test: { testTimeout: 120_000, hookTimeout: 120_000, fileParallelism: false } }

export default defineConfig(async (env) => {
  const base = packageTests(import.meta.dirname)
  const config = await (typeof base === 'function' ? base(env) : base)
  return env.mode === 'e2e' ? mergeConfig(config, e2e) : config
})
