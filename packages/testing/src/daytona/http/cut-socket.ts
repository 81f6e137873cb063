import type { WebSocket } from 'ws'

/** Lets this many payload bytes through, the last frame cut short, then ends the connection without a close frame: 1006. */
export function cutAfter(socket: WebSocket, atByte: number): void {
  const send = socket.send.bind(socket) as (data: Buffer, options: { binary: boolean }, done?: () => void) => void
  let sent = 0
  if (atByte === 0) return socket.terminate()
  socket.send = ((data: Buffer | string) => {
    if (sent >= atByte) return
    const bytes = Buffer.isBuffer(data) ? data : Buffer.from(data)
    const binary = Buffer.isBuffer(data)
    const part = bytes.subarray(0, atByte - sent)
    sent += bytes.length
    // A control message is not cut in two: only the connection ends.
    send(binary ? part : bytes, { binary }, sent >= atByte ? () => socket.terminate() : undefined)
  }) as WebSocket['send']
  // A command that says less than that is cut at its end instead.
  socket.close = () => socket.terminate()
}
