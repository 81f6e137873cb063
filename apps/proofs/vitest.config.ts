import { defineConfig, mergeConfig } from 'vitest/config'
import { packageTests } from '../../tools/vitest.base.ts'

/** Hosts with short leases share the machine; more of them would be late with their renewals: one file after the other. */
const e2e = { test: { testTimeout: 120_000, hookTimeout: 120_000, fileParallelism: false } }

export default defineConfig(async (env) => {
  const base = packageTests(import.meta.dirname)
  const config = await (typeof base === 'function' ? base(env) : base)
  return env.mode === 'e2e' ? mergeConfig(config, e2e) : config
})
