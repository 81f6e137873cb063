const MEANINGS = {
  ENOENT: 'no such file or directory',
  ENOTDIR: 'not a directory',
  EISDIR: 'illegal operation on a directory',
  EEXIST: 'file already exists',
  ENOTEMPTY: 'directory not empty',
  ELOOP: 'too many levels of symbolic links',
  EINVAL: 'invalid argument',
  EPERM: 'operation not permitted',
  EBUSY: 'resource busy',
  ENAMETOOLONG: 'file name too long',
} as const

export type SystemErrorCode = keyof typeof MEANINGS

/** An error as the system's file calls give it. */
export function systemError(code: SystemErrorCode, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${MEANINGS[code]}, '${path}'`), { code, path })
}
