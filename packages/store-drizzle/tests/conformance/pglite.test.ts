import { describeAllStores } from '@holdfast/testing/vitest'
import { afterAll } from 'vitest'
import { pgliteTarget } from '../support/pglite-target.ts'

const { target, stop } = pgliteTarget()
afterAll(stop)
describeAllStores(target)
