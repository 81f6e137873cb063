/**
 * The bulk path: many files in one request. Streams are POSIX tar (pax), uncompressed, names relative to the workspace
 * root. Both ends stream: neither holds the whole archive in memory.
 */
export interface SandboxArchive {
  /**
   * The named files, links and directories. A directory is packed as an entry, without what it holds. A path that
   * vanished meanwhile is left out; the reader compares with what it asked for.
   */
  pack: (paths: readonly string[], options?: { signal?: AbortSignal }) => Promise<ReadableStream<Uint8Array>>
  /**
   * Writes every entry below the workspace root, replacing what is there, modes included. Nothing is written through a
   * link, and an entry that would leave the root rejects with `INVALID_PATH`. Repeatable.
   */
  unpack: (archive: ReadableStream<Uint8Array>, options?: { signal?: AbortSignal }) => Promise<void>
}
