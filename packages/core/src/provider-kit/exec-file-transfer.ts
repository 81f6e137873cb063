import { ProviderError } from '../errors/error-classes.ts'
import type { PosixArchiveHost } from './posix-archive.ts'
import { shellQuote } from './shell-quote.ts'

/** Bytes moved by one command. A multiple of 3, so that base64 pieces need no padding. */
const PIECE_BYTES = 3 * 1024 * 1024

/**
 * `download` and `upload` by nothing but commands, for sandboxes without a byte stream of their own. Memory stays at
 * one piece of 3 MiB; each piece costs one command.
 */
export function execFileTransfer(exec: PosixArchiveHost['exec']): Pick<PosixArchiveHost, 'download' | 'upload'> {
  return {
    download: async (path, options) => downloadStream(exec, path, options),
    upload: async (path, bytes, options) => {
      await append(exec, `: > ${shellQuote(path)}`, new Uint8Array(), options)
      let pending = new Uint8Array()
      for await (const chunk of bytes) {
        pending = joined(pending, chunk)
        if (pending.length < PIECE_BYTES) continue
        await append(exec, `cat >> ${shellQuote(path)}`, pending, options)
        pending = new Uint8Array()
      }
      if (pending.length > 0) await append(exec, `cat >> ${shellQuote(path)}`, pending, options)
    },
  }
}

function downloadStream(
  exec: PosixArchiveHost['exec'],
  path: string,
  options: { signal?: AbortSignal },
): ReadableStream<Uint8Array> {
  let piece = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const read = `dd if=${shellQuote(path)} bs=${PIECE_BYTES} skip=${piece} count=1 2>/dev/null | base64`
        const result = await exec(`test -r ${shellQuote(path)} && ${read}`, { stdin: new Uint8Array(), ...options })
        if (result.exitCode !== 0) throw transferError('download', result.exitCode)
        piece += 1
        const bytes = new Uint8Array(Buffer.from(result.stdout, 'base64'))
        if (bytes.length > 0) controller.enqueue(bytes)
        if (bytes.length < PIECE_BYTES) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}

async function append(
  exec: PosixArchiveHost['exec'],
  command: string,
  stdin: Uint8Array,
  options: { signal?: AbortSignal },
): Promise<void> {
  const result = await exec(command, { stdin, ...options })
  if (result.exitCode !== 0) throw transferError('upload', result.exitCode)
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}

function transferError(direction: string, exitCode: number): ProviderError {
  const message = `The ${direction} of an archive failed in the sandbox with exit code ${exitCode}.`
  return new ProviderError('FILE_FAILED', message, { details: { direction, exitCode } })
}
