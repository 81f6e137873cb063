import { closeSync, openSync, readSync, writeSync } from 'node:fs'

export const STDOUT_MARKER = Buffer.from([1, 1, 1])
export const STDERR_MARKER = Buffer.from([2, 2, 2])

/** Output of one session command: append-only, each line with the marker of its stream. Read from any byte, any time. */
export class SessionLog {
  readonly #fd: number
  readonly #listeners = new Set<() => void>()
  #size = 0
  #isClosed = false

  constructor(path: string) {
    this.#fd = openSync(path, 'a+')
  }

  get size(): number {
    return this.#size
  }

  appendLine(marker: Buffer, line: Buffer): void {
    if (this.#isClosed) return
    const bytes = Buffer.concat([marker, line, NEWLINE])
    writeSync(this.#fd, bytes)
    this.#size += bytes.length
    for (const listener of this.#listeners) listener()
  }

  read(offset: number, maxBytes: number): Buffer {
    const bytes = Buffer.alloc(Math.max(0, Math.min(maxBytes, this.#size - offset)))
    if (this.#isClosed || bytes.length === 0) return Buffer.alloc(0)
    return bytes.subarray(0, readSync(this.#fd, bytes, 0, bytes.length, offset))
  }

  readAll(): Buffer {
    return this.read(0, this.#size)
  }

  /** Calls `fn` after each append. Returns a function that ends it. */
  onAppend(fn: () => void): () => void {
    this.#listeners.add(fn)
    return () => this.#listeners.delete(fn)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    closeSync(this.#fd)
  }
}

const NEWLINE = Buffer.from('\n')

/** Splits a stream into lines: NUL bytes are dropped, and an end without a newline gets one [D190]. */
export class LineLabeler {
  readonly #log: SessionLog
  readonly #marker: Buffer
  #pending: Buffer[] = []

  constructor(log: SessionLog, marker: Buffer) {
    this.#log = log
    this.#marker = marker
  }

  write(chunk: Buffer): void {
    let rest = chunk
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      this.#emit(rest.subarray(0, end))
      rest = rest.subarray(end + 1)
    }
    if (rest.length > 0) this.#pending.push(rest)
  }

  end(): void {
    if (this.#pending.length > 0) this.#emit(Buffer.alloc(0))
  }

  #emit(tail: Buffer): void {
    const line = Buffer.concat([...this.#pending, tail])
    this.#pending = []
    this.#log.appendLine(this.#marker, line.includes(0) ? Buffer.from(line.filter((byte) => byte !== 0)) : line)
  }
}

/** Takes the markers out again, as the JSON forms of the log do. */
export function demultiplex(log: Buffer): { stdout: string; stderr: string } {
  const parts: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] }
  let stream: 'stdout' | 'stderr' | undefined
  let start = 0
  for (let at = 0; at + 3 <= log.length;) {
    const next = markerAt(log, at)
    if (!next) {
      at += 1
      continue
    }
    if (stream) parts[stream].push(log.subarray(start, at))
    stream = next
    at += 3
    start = at
  }
  if (stream) parts[stream].push(log.subarray(start))
  return { stdout: Buffer.concat(parts.stdout).toString('utf8'), stderr: Buffer.concat(parts.stderr).toString('utf8') }
}

function markerAt(log: Buffer, at: number): 'stdout' | 'stderr' | undefined {
  const byte = log[at]
  if ((byte !== 1 && byte !== 2) || log[at + 1] !== byte || log[at + 2] !== byte) return undefined
  return byte === 1 ? 'stdout' : 'stderr'
}
