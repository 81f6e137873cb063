/** What is known of a blob without reading it. */
export interface BlobRecord {
  key: string
  /** Bytes. */
  size: number
  contentType?: string
  customMetadata?: Record<string, string>
  /** SHA-256 of the bytes, 64 hex digits. */
  etag: string
  /** Epoch milliseconds. */
  createdAt: number
}

/** A blob with its bytes, to be read once. */
export interface BlobObject extends BlobRecord {
  /** The part that was read; absent when the whole. */
  range?: { offset: number; length: number }
  /** Streams the bytes. Only one of `body`, `arrayBuffer` and `text` may be used, once. */
  body: ReadableStream<Uint8Array>
  arrayBuffer: () => Promise<ArrayBuffer>
  text: () => Promise<string>
}

/** What `put` takes: bytes, text or a stream. */
export type BlobBody = ReadableStream<Uint8Array> | ArrayBuffer | ArrayBufferView | string | Blob

/** What is kept beside the bytes. */
export interface BlobPutOptions {
  contentType?: string
  customMetadata?: Record<string, string>
  /** `BLOB_MISMATCH` when the body has another length. */
  expectedLength?: number
}

/** One page of blobs, by key. */
export interface BlobListInput {
  prefix?: string
  cursor?: string
  /** 1 … 1,000. Default 1,000. */
  limit?: number
}

/**
 * Bytes by key. A key that ends in `sha256/<64 hex>` is a promise about the bytes: `put` rejects with `BLOB_MISMATCH`
 * when they differ. `put` is atomic: a reader sees the whole blob or none, also when the stream fails halfway.
 */
export interface BlobStore {
  /** Replaces. Repeatable. `BLOB_TOO_LARGE` above the store's limit. Memory stays flat whatever the size. */
  put: (key: string, body: BlobBody, options?: BlobPutOptions) => Promise<BlobRecord>
  /** Null when there is none. A range beyond the end is cut; one that starts beyond it gives no bytes. */
  get: (key: string, options?: { range?: { offset: number; length?: number } }) => Promise<BlobObject | null>
  head: (key: string) => Promise<BlobRecord | null>
  /** Which of the keys exist, in one query. Missing keys are absent from the answer. */
  headMany?: (keys: readonly string[]) => Promise<Map<string, BlobRecord>>
  /** Missing is fine. */
  delete: (key: string) => Promise<void>
  /** By key, in UTF-8 byte order. */
  list: (input?: BlobListInput) => Promise<{ objects: BlobRecord[]; cursor?: string; truncated?: boolean }>
}
