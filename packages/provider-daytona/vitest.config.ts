import { defineConfig, mergeConfig } from 'vitest/config'
import { packageTests } from '../../tools/vitest.base.ts'

/** Its tests wait for the local service most of the time. */
const waiting = { test: { maxWorkers: 4 } }

export default defineConfig(async (env) => {
  const base = packageTests(import.meta.dirname)
  return mergeConfig(typeof base === 'function' ? await base(env) : await base, waiting)
})
