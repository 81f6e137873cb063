import { assertId, decodeJson, encodeExactJson } from '@holdfast/core'
import type { MetadataStore } from '@holdfast/core'
import { text } from '../database/row.ts'
import { deleteMetadata, findMetadata, setMetadata } from '../statements/metadata.ts'
import type { StoreContext } from '../store-context.ts'

export class SqlMetadataStore implements MetadataStore {
  readonly #context: StoreContext

  constructor(context: StoreContext) {
    this.#context = context
  }

  get: MetadataStore['get'] = async (namespace, key) => {
    const row = await this.#context.db.row(findMetadata, address(namespace, key))
    return row === undefined ? null : decodeJson(text(row, 'value'), 'metadata')
  }

  set: MetadataStore['set'] = async (namespace, key, value) => {
    await this.#context.db.rows(setMetadata, [...address(namespace, key), encodeExactJson(value)])
  }

  delete: MetadataStore['delete'] = async (namespace, key) => {
    await this.#context.db.rows(deleteMetadata, address(namespace, key))
  }
}

function address(namespace: string, key: string): [string, string] {
  return [assertId('namespace', namespace), assertId('key', key)]
}
