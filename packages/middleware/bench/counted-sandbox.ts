import { createReadStream, createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { SandboxHandle } from '@holdfast/core'
import { posixArchive } from '@holdfast/core/provider-kit'

export interface RequestCount {
  requests: number
  /** Bytes of archives and of single files, both ways. */
  bytes: number
}

/**
 * A sandbox as it looks behind a service that carries one command or one file a request, each of which takes `delayMs`.
 * `real` has its processes and files on this machine.
 */
export function countedSandbox(
  real: SandboxHandle,
  options: { delayMs?: number } = {},
): { handle: SandboxHandle; total: RequestCount } {
  const total: RequestCount = { requests: 0, bytes: 0 }
  const request = async <T>(work: () => Promise<T>): Promise<T> => {
    total.requests += 1
    const { delayMs } = options
    if (delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, delayMs))
    const result = await work()
    if (result instanceof Uint8Array) total.bytes += result.length
    return result
  }
  const weighed = (bytes: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> =>
    bytes.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          total.bytes += chunk.length
          controller.enqueue(chunk)
        },
      }),
    )
  const archive = posixArchive({
    workspaceRoot: real.workspaceRoot ?? '',
    exec: (command, rest) => request(() => real.process.exec(command, rest)),
    download: (path) => request(async () => weighed(ReadableStream.from<Uint8Array>(createReadStream(path)))),
    upload: (path, bytes) => request(() => pipeline(weighed(bytes), createWriteStream(path))),
  })
  const counted = <T extends object>(group: T): T =>
    new Proxy(group, {
      get(target, key) {
        const member: unknown = Reflect.get(target, key)
        if (typeof member !== 'function') return member
        return (...args: unknown[]) => {
          for (const arg of args) if (arg instanceof Uint8Array) total.bytes += arg.length
          return request(async () => (await Reflect.apply(member, target, args)) as unknown)
        }
      },
    })
  const groups = { archive, fs: counted(real.fs), process: counted(real.process) }
  return { handle: { ...real, id: real.id, capabilities: real.capabilities, ...groups }, total }
}

/** The same sandbox for someone who knows no more than files one by one. */
export function filesAlone(handle: SandboxHandle): SandboxHandle {
  const { archive: _archive, ...rest } = handle
  const capabilities = { ...handle.capabilities, exec: false, archive: false }
  return { ...rest, id: handle.id, capabilities }
}
