import { expect, test, vi } from 'vitest'
import { defaultTracer } from '../../src/account/default-tracer.ts'
import { startDaytona } from '../daytona-fixture.ts'

vi.mock('@opentelemetry/api', () => {
  throw new Error("Cannot find package '@opentelemetry/api'")
})

test('everything works where OpenTelemetry cannot be loaded', async () => {
  expect(await defaultTracer()).toBeUndefined()
  const { provider } = await startDaytona()
  const sandbox = await provider.create({})
  expect((await sandbox.process.exec('echo on')).stdout).toBe('on\n')
})
