/** A named output of a thread; its bytes are the blob that `blobKey` names. */
export interface ArtifactRecord {
  artifactId: string
  runId: string
  threadId: string
  blobKey?: string
  name: string
  mimeType: string
  /** Bytes. */
  size: number
  sourceUrl?: string
  /** Epoch milliseconds. */
  createdAt: number
}

/** Named outputs of runs. Lists are by `createdAt`, then by id in UTF-8 byte order. */
export interface ArtifactStore {
  /** Full replace. Repeatable. */
  save: (record: ArtifactRecord) => Promise<void>
  get: (artifactId: string) => Promise<ArtifactRecord | null>
  list: (runId: string) => Promise<ArtifactRecord[]>
  listForThread: (threadId: string) => Promise<ArtifactRecord[]>
  /** Missing is fine. Bytes stay: blobs are collected by reference. */
  delete: (artifactId: string) => Promise<void>
  deleteForRun: (runId: string) => Promise<void>
}
