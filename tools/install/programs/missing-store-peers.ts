import assert from 'node:assert/strict'
import { createEmbeddedStores, createPostgresStores } from '@holdfast/store-drizzle'

const stores = [
  { peer: '@electric-sql/pglite', opened: createEmbeddedStores({ dir: 'unused' }) },
  { peer: 'postgres', opened: createPostgresStores({ url: 'postgres://nobody@127.0.0.1:9/none' }) },
]
for (const { peer, opened } of stores) {
  await assert.rejects(opened.ping(), { code: 'PEER_MISSING', message: new RegExp(`npm install ${peer}`) })
}
