import { describeAllStores } from '../../src/vitest.ts'
import { memoryTarget } from './memory-target.ts'

describeAllStores(memoryTarget())
