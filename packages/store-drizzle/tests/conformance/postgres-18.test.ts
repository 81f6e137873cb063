import { describeAllStores } from '@holdfast/testing/vitest'
import { afterAll } from 'vitest'
import { postgresTarget } from '../support/postgres-target.ts'

const { target, stop } = postgresTarget()
afterAll(stop)
describeAllStores(target)
