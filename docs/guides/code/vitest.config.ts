import { defineConfig, mergeConfig } from 'vitest/config'
import type { ViteUserConfig } from 'vitest/config'
import { packageTests } from '../../../tools/vitest.base.ts'

export default defineConfig(async (env): Promise<ViteUserConfig> => {
  const config = await packageTests(import.meta.dirname)
  const base = typeof config === 'function' ? await config(env) : config
  return mergeConfig(base, { test: { include: ['**/*.test.ts'] } })
})
