import { startDaytonaServer } from '@holdfast/testing/daytona'
import type { DaytonaServer } from '@holdfast/testing/daytona'
import { providerTarget } from '@holdfast/testing'
import { describeProvider } from '@holdfast/testing/vitest'
import { afterAll, beforeAll } from 'vitest'
import { daytonaProvider } from '../../src/index.ts'
import type { DaytonaOptions } from '../../src/index.ts'

const serverScript = `require('http').createServer((_, answer) => answer.end('hello')).listen(process.argv[1])`

let server: DaytonaServer
beforeAll(async () => {
  server = await startDaytonaServer()
})
afterAll(() => server.close())

function options(): DaytonaOptions {
  return { apiUrl: server.url, apiKey: server.apiKey, target: 'us' }
}

describeProvider(
  providerTarget({
    name: 'daytonaProvider',
    capabilities: daytonaProvider({ apiKey: 'unused' }).capabilities(),
    lacks: { watch: 'Changes are found by listing; the service sends no notices.' },
    open: () => {
      const provider = daytonaProvider(options())
      const others: { close?: () => Promise<void> }[] = []
      let endOutage: (() => void) | undefined
      return {
        provider,
        connect: async () => {
          const other = daytonaProvider(options())
          others.push(other)
          return other
        },
        faults: {
          setOutage: (isOn) => {
            endOutage?.()
            endOutage = undefined
            if (isOn) endOutage = server.setFault({ on: /./, effect: { kind: 'status', status: 503 }, times: 1e9 })
          },
          loseNextReply: (operation) => {
            const on = operation === 'create' ? 'POST /sandbox' : 'DELETE /sandbox/:sandbox'
            server.setFault({ on, effect: { kind: 'lost-reply' } })
          },
        },
        httpServerCommand: (port) => `exec node -e "${serverScript}" ${port}`,
        dispose: async () => {
          server.clearFaults()
          for (const one of [provider, ...others]) await one.close?.()
        },
      }
    },
  }),
)
