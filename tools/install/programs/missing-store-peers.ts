import assert from 'node:assert/strict'
import { isHoldfastError } from '@holdfast/core'
import { createEmbeddedStores, createPostgresStores } from '@holdfast/store-drizzle'

const stores = [
  { peer: '@electric-sql/pglite', opened: createEmbeddedStores({ dir: 'unused' }) },
  { peer: 'postgres', opened: createPostgresStores({ url: 'postgres://nobody@127.0.0.1:9/none' }) },
]
for (const { peer, opened } of stores) {
  const error: unknown = await opened.ping().then(
    () => assert.fail(`${peer} is not installed`),
    (reason: unknown) => reason,
  )
  assert.ok(isHoldfastError(error, 'PEER_MISSING'), String(error))
  assert.match(error.message, new RegExp(`npm install ${peer}`))
}
