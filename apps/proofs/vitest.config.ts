import { defineConfig, mergeConfig } from 'vitest/config'
import { packageTests } from '../../tools/vitest.base.ts'

/** Tests with real processes share the machine, and mostly wait for leases: two files at a time. */
const e2e = { test: { testTimeout: 120_000, hookTimeout: 120_000, maxWorkers: 2 } }

export default defineConfig(async (env) => {
  const base = packageTests(import.meta.dirname)
  const config = await (typeof base === 'function' ? base(env) : base)
  return env.mode === 'e2e' ? mergeConfig(config, e2e) : config
})
