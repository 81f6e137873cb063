/** Small JSON values by namespace and key. TanStack's shape. */
export interface MetadataStore {
  /** Null when there is none. A stored null reads as null too. */
  get: (namespace: string, key: string) => Promise<unknown | null>
  /** Full replace. `INVALID_CHUNK` for what JSON cannot keep. */
  set: (namespace: string, key: string, value: unknown) => Promise<void>
  /** Missing is fine. */
  delete: (namespace: string, key: string) => Promise<void>
}
