import { createReadStream, createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { SandboxArchive } from '@holdfast/core'
import { posixArchive } from '@holdfast/core/provider-kit'
import type { ProcessRunner } from './process-runner.ts'
import type { SandboxPaths } from './sandbox-directory.ts'

/** Archives by the machine's own `tar`, as a remote sandbox makes them. */
export function processArchive(runner: ProcessRunner, paths: SandboxPaths): SandboxArchive {
  return posixArchive({
    workspaceRoot: paths.workspace,
    temporaryRoot: paths.staging,
    exec: (command, { stdin, signal }) =>
      runner.exec(command, { cwd: paths.workspace, env: {}, stdin, ...(signal === undefined ? {} : { signal }) }),
    // Not by `toWeb`, whose queues count pieces instead of bytes and so take in a whole file.
    download: async (path, options) => ReadableStream.from<Uint8Array>(createReadStream(path, options)),
    upload: (path, bytes, options) => pipeline(bytes, createWriteStream(path), options),
  })
}
