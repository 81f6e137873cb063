import { packageTests } from '../../../tools/vitest.base.ts'

export default packageTests(import.meta.dirname, ['**/*.test.ts'])
