// As a bundler leaves it: one file, no package folder around it, started in some other directory.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEmbeddedStores } from '@holdfast/store-drizzle'

const dir = await mkdtemp(join(tmpdir(), 'holdfast-bundled-'))
const stores = createEmbeddedStores({ dir })
await stores.metadata.set('app', 'greeting', 'hello')
assert.equal(await stores.metadata.get('app', 'greeting'), 'hello', 'the migrations are in the bundle')
await stores.close()
await rm(dir, { recursive: true, force: true })
