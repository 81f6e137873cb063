import { canStartPostgres } from '@holdfast/testing'
import { describeAllStores } from '@holdfast/testing/vitest'
import { afterAll, test } from 'vitest'
import { postgresTarget } from '../support/postgres-target.ts'

const reason = canStartPostgres(15)
if (reason === true) {
  const { target, stop } = postgresTarget({ version: 15 })
  afterAll(stop)
  describeAllStores(target)
} else {
  test('PostgreSQL 15', ({ skip }) => skip(reason))
}
