import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, constants, openSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Both ends of a pipe, as file descriptors of this process that its children do not inherit. */
export interface PipePair {
  readFd: number
  writeFd: number
}

/**
 * Makes pipes. Node gives a child sockets instead, which cannot be opened by name, so that `echo x > /dev/stderr` would
 * fail in a command.
 */
export async function openPipes(count: number, dir: string): Promise<PipePair[]> {
  const paths = Array.from({ length: count }, () => join(dir, `pipe-${randomUUID()}`))
  await promisify(execFile)('mkfifo', ['-m', '600', ...paths])
  try {
    return paths.map(openPair)
  } finally {
    // The open ends need no name.
    for (const path of paths) await rm(path, { force: true })
  }
}

export function closePipes(pairs: readonly PipePair[]): void {
  for (const { readFd, writeFd } of pairs) {
    closeSync(readFd)
    closeSync(writeFd)
  }
}

/** Held by one descriptor that reads and writes, neither end waits for the other to be opened. */
function openPair(path: string): PipePair {
  const holdFd = openSync(path, constants.O_RDWR)
  const readFd = openSync(path, constants.O_RDONLY)
  const writeFd = openSync(path, constants.O_WRONLY)
  closeSync(holdFd)
  return { readFd, writeFd }
}
