import { describeProvider } from '../../src/vitest.ts'
import { memoryTarget, processTarget } from './provider-targets.ts'

describeProvider(processTarget)
describeProvider(memoryTarget)
