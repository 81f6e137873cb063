import { RefusedError } from '@holdfast/core'
import type { SandboxHandle } from '@holdfast/core'

/** Largest file that a tool takes into the host's memory. */
const MAX_FILE_BYTES = 16 * 1024 * 1024

/** `FILE_TOO_LARGE` for a file that would not fit. Where the size cannot be known, the file is let through. */
export async function assertReadable(handle: SandboxHandle, path: string): Promise<void> {
  const stat = await handle.fs.lstat?.(path)
  if (stat?.type !== 'file' || stat.size <= MAX_FILE_BYTES) return
  throw new RefusedError('FILE_TOO_LARGE', `${path} has ${stat.size} bytes; the limit is ${MAX_FILE_BYTES}.`, {
    details: { path, size: stat.size, limit: MAX_FILE_BYTES },
  })
}
