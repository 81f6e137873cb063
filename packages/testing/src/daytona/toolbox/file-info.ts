import { stat } from 'node:fs/promises'
import type { Stats } from 'node:fs'
import { basename } from 'node:path'
import { bareDaemonError, type WireError } from '../http/wire-error.ts'

/** The daemon looks through links everywhere: a link shows what it points at, a dangling one is missing [D190]. */
export async function fileInfo(path: string, name = basename(path)): Promise<Record<string, unknown>> {
  const stats = await stat(path)
  return {
    name,
    path,
    size: stats.size,
    mode: goMode(stats),
    modTime: goTime(stats.mtime),
    modifiedAt: stats.mtime.toISOString(),
    isDir: stats.isDirectory(),
    owner: String(stats.uid),
    group: String(stats.gid),
    permissions: `0${(stats.mode & 0o777).toString(8).padStart(3, '0')}`,
  }
}

function goMode(stats: Stats): string {
  const bits = ['r', 'w', 'x', 'r', 'w', 'x', 'r', 'w', 'x']
  const letters = bits.map((letter, index) => ((stats.mode >> (8 - index)) & 1 ? letter : '-')).join('')
  return `${stats.isDirectory() ? 'd' : '-'}${letters}`
}

function goTime(time: Date): string {
  return `${time.toISOString().replace('T', ' ').replace('Z', '')} +0000 UTC`
}

const REFUSALS: Record<string, { status: number; code: string }> = {
  ENOENT: { status: 404, code: 'FILE_NOT_FOUND' },
  EACCES: { status: 403, code: 'FILE_ACCESS_DENIED' },
  EPERM: { status: 403, code: 'FILE_ACCESS_DENIED' },
  ENOTDIR: { status: 400, code: 'INVALID_FILE_PATH' },
  EISDIR: { status: 400, code: 'INVALID_FILE_PATH' },
  EEXIST: { status: 400, code: 'INVALID_FILE_PATH' },
  ENAMETOOLONG: { status: 400, code: 'INVALID_FILE_PATH' },
  ELOOP: { status: 400, code: 'INVALID_FILE_PATH' },
}

/** An error of the file system as the daemon answers it. */
export function fileError(error: unknown): WireError | Error {
  if (!(error instanceof Error) || !('code' in error)) return error as Error
  const refusal = REFUSALS[String(error.code)]
  return bareDaemonError(refusal?.status ?? 500, error.message, refusal?.code)
}
