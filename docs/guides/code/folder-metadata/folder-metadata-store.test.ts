import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryStores } from '@holdfast/core'
import type { HoldfastStores } from '@holdfast/core'
import { FakeClock, lacksOnly } from '@holdfast/testing'
import { describeMetadataStore } from '@holdfast/testing/vitest'
import { folderMetadataStore } from './folder-metadata-store.ts'

describeMetadataStore({
  name: 'folderMetadataStore',
  has: lacksOnly({}),
  open: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'folder-metadata-'))
    const clock = new FakeClock()
    const openStores = (): HoldfastStores => {
      const memory = createMemoryStores({ clock })
      const metadata = folderMetadataStore(folder)
      const close = async () => {
        metadata.close()
        await memory.close()
      }
      return { ...memory, metadata, close }
    }
    const stores = openStores()
    const reopen = async () => {
      await stores.close()
      return openStores()
    }
    return {
      subject: { stores, advance: (ms) => clock.advance(ms), reopen },
      dispose: () => rm(folder, { recursive: true, force: true }),
    }
  },
})
