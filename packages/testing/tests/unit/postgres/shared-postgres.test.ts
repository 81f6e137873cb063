import { join } from 'node:path'
import { defaultServerConditions } from 'vite'
import { expect, test } from 'vitest'
import { startVitest } from 'vitest/node'

test('test files of one run share the server that the global setup started', async () => {
  const root = join(import.meta.dirname, 'fixtures/shared')
  const printed: string[] = []
  const conditions = ['@holdfast/source', ...defaultServerConditions]
  const vitest = await startVitest(
    'test',
    [],
    {
      root,
      config: false,
      watch: false,
      include: ['*.case.ts'],
      globalSetup: [join(root, 'global-setup.ts')],
      reporters: [{ onUserConsoleLog: ({ content }) => void printed.push(content.trim()) }],
    },
    { resolve: { conditions }, ssr: { resolve: { conditions } } },
  )
  const modules = vitest.state.getTestModules()
  await vitest.close()
  expect(modules.map((module) => module.state())).toEqual(['passed', 'passed'])
  expect(printed).toHaveLength(2)
  expect(new Set(printed).size).toBe(1)
}, 60_000)
