import { decodeJson, encodeExactJson } from '../exact-json.ts'
import { assertId } from '../identifier.ts'
import type { MetadataStore } from '../threads/metadata-store.ts'
import { MemoryState } from './memory-state.ts'

/** Small values by namespace and key, in memory. */
export class MemoryMetadataStore implements MetadataStore {
  readonly #state: MemoryState

  constructor(state = new MemoryState()) {
    this.#state = state
  }

  async get(namespace: string, key: string): Promise<unknown | null> {
    this.#state.assertOpen()
    const text = this.#state.metadata.get(entryKey(namespace, key))
    return text === undefined ? null : decodeJson(text, 'metadata')
  }

  async set(namespace: string, key: string, value: unknown): Promise<void> {
    this.#state.assertOpen()
    this.#state.metadata.set(entryKey(namespace, key), encodeExactJson(value))
  }

  async delete(namespace: string, key: string): Promise<void> {
    this.#state.assertOpen()
    this.#state.metadata.delete(entryKey(namespace, key))
  }
}

function entryKey(namespace: string, key: string): string {
  return JSON.stringify([assertId('namespace', namespace), assertId('key', key)])
}
