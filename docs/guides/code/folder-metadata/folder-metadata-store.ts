import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { assertId, decodeJson, encodeExactJson, StoreError } from '@holdfast/core'
import type { MetadataStore } from '@holdfast/core'

/** One file a value. */
export function folderMetadataStore(folder: string): MetadataStore & { close: () => void } {
  let isClosed = false
  const assertOpen = () => {
    if (isClosed) throw new StoreError('STORE_CLOSED', 'The metadata store is closed.')
  }
  /** A hash: names may hold any character, and `a` with `b:c` is not `a:b` with `c`. */
  const fileOf = (namespace: string, key: string) => {
    const name = JSON.stringify([assertId('namespace', namespace), assertId('key', key)])
    return join(folder, createHash('sha256').update(name).digest('hex'))
  }

  return {
    get: async (namespace, key) => {
      assertOpen()
      const text = await readFile(fileOf(namespace, key), 'utf8').catch(nullWhenAbsent)
      return text === null ? null : decodeJson(text, 'metadata')
    },
    set: async (namespace, key, value) => {
      assertOpen()
      const file = fileOf(namespace, key)
      const draft = `${file}.${randomUUID()}`
      // Encoded before anything is touched: what JSON cannot keep is refused and changes nothing.
      const text = encodeExactJson(value)
      await mkdir(folder, { recursive: true })
      await writeFile(draft, text)
      await rename(draft, file)
    },
    delete: async (namespace, key) => {
      assertOpen()
      await rm(fileOf(namespace, key), { force: true })
    },
    close: () => {
      isClosed = true
    },
  }
}

function nullWhenAbsent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}
