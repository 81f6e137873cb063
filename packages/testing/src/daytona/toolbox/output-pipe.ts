import { closeSync, constants, openSync } from 'node:fs'
import { execFile } from 'node:child_process'
import { Socket } from 'node:net'
import { promisify } from 'node:util'

const run = promisify(execFile)
const { O_RDONLY, O_RDWR, O_WRONLY, O_NONBLOCK } = constants

export async function makePipes(...paths: string[]): Promise<void> {
  await run('mkfifo', paths)
}

export interface OutputPipe {
  /** Lets the end show, once nobody else has it open. */
  readonly closeWriter: () => void
  /** Resolves when the last writer has closed it and all was read. */
  readonly ended: Promise<void>
}

/**
 * Reads a named pipe. Real pipes, because commands open `/dev/stdout` and `/dev/stderr`, which fails on the sockets that
 * Node gives a child. A writer of our own keeps the end from showing before the command has opened it.
 */
export function openOutputPipe(path: string, onData: (chunk: Buffer) => void): OutputPipe {
  const socket = new Socket({ fd: openSync(path, O_RDONLY | O_NONBLOCK), readable: true, writable: false })
  let writer: number | undefined = openSync(path, O_WRONLY | O_NONBLOCK)
  const ended = new Promise<void>((resolve) => {
    socket.on('data', onData)
    socket.once('error', () => socket.destroy())
    socket.once('close', () => resolve())
  })
  return {
    ended,
    closeWriter: () => {
      if (writer !== undefined) closeSync(writer)
      writer = undefined
    },
  }
}

/** Both ends are held, so that the reader never sees the end. */
export function openInputPipe(path: string): Socket {
  const socket = new Socket({ fd: openSync(path, O_RDWR | O_NONBLOCK), readable: false, writable: true })
  socket.on('error', () => socket.destroy())
  return socket
}
