import { createReadStream, createWriteStream } from 'node:fs'
import { Readable, Writable } from 'node:stream'
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
    download: async (path, options) => Readable.toWeb(createReadStream(path, options)) as ReadableStream<Uint8Array>,
    upload: (path, bytes, options) => bytes.pipeTo(Writable.toWeb(createWriteStream(path)), options),
  })
}
