import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { RecordedRequest } from './request-log.ts'
import { wireErrorBody, type WireError } from './wire-error.ts'

/** What happens to a response on its way out. */
export type ReplyFate = { kind: 'deliver' } | { kind: 'lose' } | { kind: 'withhold' } | { kind: 'cut'; atByte: number }

/** One request and its single response. Every byte that a handler answers goes through here, so that faults can bite. */
export class Exchange {
  readonly request: IncomingMessage
  readonly url: URL
  readonly method: string
  readonly record: RecordedRequest
  readonly #response: ServerResponse
  readonly #daemon: () => '0.190' | '0.218'
  readonly #now: () => number
  fate: ReplyFate = { kind: 'deliver' }
  /** Bytes of file content after which an upload is cut; none when undefined. */
  cutUploadAt: number | undefined
  params: Record<string, string> = {}

  constructor(input: {
    request: IncomingMessage
    response: ServerResponse
    url: URL
    record: RecordedRequest
    daemon: () => '0.190' | '0.218'
    now: () => number
  }) {
    this.request = input.request
    this.url = input.url
    this.method = input.request.method ?? 'GET'
    this.record = input.record
    this.#response = input.response
    this.#daemon = input.daemon
    this.#now = input.now
  }

  get headers(): IncomingMessage['headers'] {
    return this.request.headers
  }

  get isAnswered(): boolean {
    return this.#response.headersSent || this.#response.destroyed
  }

  param(name: string): string {
    return this.params[name] ?? ''
  }

  query(name: string): string | undefined {
    return this.url.searchParams.get(name) ?? undefined
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name.toLowerCase()]
    return Array.isArray(value) ? value[0] : value
  }

  setHeader(name: string, value: string): void {
    if (!this.#response.headersSent) this.#response.setHeader(name, value)
  }

  async body(): Promise<Buffer> {
    const chunks: Buffer[] = []
    for await (const chunk of this.request) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks)
  }

  json(status: number, body: unknown): void {
    this.send(status, JSON.stringify(body), { 'content-type': 'application/json; charset=utf-8' })
  }

  send(status: number, body: string | Buffer = '', headers: Record<string, string> = {}): void {
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body)
    this.record.status = status
    if (this.fate.kind === 'lose') return this.drop()
    if (this.fate.kind === 'withhold' || this.#response.destroyed) return
    this.#response.writeHead(status, { ...headers, 'content-length': String(bytes.length) })
    if (this.fate.kind === 'cut') {
      const atByte = Math.min(this.fate.atByte, Math.max(0, bytes.length - 1))
      this.#response.write(bytes.subarray(0, atByte), () => this.drop())
      return
    }
    this.#response.end(bytes)
  }

  /** Sends parts as they come; `fate` applies to the sum of them. Resolves when the last byte was handed over. */
  async stream(
    status: number,
    headers: Record<string, string>,
    parts: AsyncIterable<Buffer> | Readable,
  ): Promise<void> {
    this.record.status = status
    if (this.fate.kind === 'lose') return this.drop()
    if (this.fate.kind === 'withhold') return
    this.#response.writeHead(status, headers)
    let sent = 0
    for await (const part of parts) {
      const chunk = part as Buffer
      if (this.#response.destroyed) return
      if (this.fate.kind === 'cut' && sent + chunk.length >= this.fate.atByte) {
        this.#response.write(chunk.subarray(0, this.fate.atByte - sent), () => this.drop())
        return
      }
      sent += chunk.length
      if (!this.#response.write(chunk)) await this.#drained()
    }
    if (this.fate.kind === 'cut') return this.drop()
    this.#response.end()
  }

  fail(error: WireError): void {
    // Half an answer must not look like a whole one.
    if (this.#response.headersSent && !this.#response.writableEnded) return this.drop()
    if (this.isAnswered) return
    for (const [name, value] of Object.entries(error.input.headers ?? {})) this.setHeader(name, value)
    const body = wireErrorBody(error.input, {
      method: this.method,
      path: this.url.pathname,
      timestamp: new Date(this.#now()).toISOString(),
      daemon: this.#daemon(),
    })
    if (body === null) this.send(error.input.status)
    else this.json(error.input.status, body)
  }

  /** Ends the connection without (the rest of) an answer. */
  drop(): void {
    this.#response.destroy()
    this.request.socket.destroy()
  }

  onClientGone(fn: () => void): void {
    this.#response.once('close', () => {
      if (!this.#response.writableFinished) fn()
    })
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#response.off('drain', done)
        this.#response.off('close', done)
        resolve()
      }
      this.#response.once('drain', done)
      this.#response.once('close', done)
    })
  }
}
