import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface ServerDir {
  readonly path: string
  /** Removes the directory and ends the watchdog. */
  readonly remove: () => Promise<void>
}

/**
 * Waits for a line, which means that the server was closed, or for the end of its input, which means that its process
 * died: then it kills what carries the server's mark. Removes the directory either way. Arguments: mark, directory.
 */
const WATCHDOG = `
if ! read -r _; then
  for round in 1 2 3 4 5; do
    for environ in $(grep -lF "$1" /proc/[0-9]*/environ 2>/dev/null); do
      pid=\${environ#/proc/}
      kill -9 "\${pid%/environ}" 2>/dev/null
    done
  done
fi
rm -rf "$2"
`

/** A temporary directory that does not outlive the process, even when that is killed. */
export async function createServerDir(tag: { name: string; value: string }): Promise<ServerDir> {
  const path = await mkdtemp(join(tmpdir(), 'holdfast-daytona-'))
  const watchdog = spawn('/bin/sh', ['-c', WATCHDOG, 'watchdog', `${tag.name}=${tag.value}`, path], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watchdog.unref()
  const lifeline = watchdog.stdin
  // A socket underneath, though its type does not say so.
  if ('unref' in lifeline && typeof lifeline.unref === 'function') lifeline.unref()
  lifeline.on('error', () => lifeline.destroy())
  return {
    path,
    remove: async () => {
      await rm(path, { recursive: true, force: true, maxRetries: 3 })
      lifeline.end('closed\n')
    },
  }
}
