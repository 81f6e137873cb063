import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import type { SandboxRecord } from '../control/sandbox-record.ts'
import type { DaytonaService } from '../daytona-service.ts'
import type { Exchange } from '../http/exchange.ts'
import { proxyError } from '../http/wire-error.ts'
import { isAdmitted, runningToolbox } from '../toolbox/toolbox-gate.ts'

export interface PreviewTarget {
  readonly port: number
  /** A sandbox id or a signed token. */
  readonly key: string
  /** What the program behind the port is asked for. */
  readonly path: string
}

/** These need a token even in a public sandbox: toolbox, terminal and its like [P190]. */
const GUARDED_PORTS: ReadonlySet<number> = new Set([2280, 22222, 33333])
const HOST = /^(\d+)-([A-Za-z0-9-]+)\./
const PATH = /^\/preview\/(\d+)-([A-Za-z0-9-]+)(\/.*)?$/

/** Recognises `{port}-{key}.host` and `/preview/{port}-{key}/…`. */
export function previewTarget(url: URL, host: string): PreviewTarget | undefined {
  const byHost = HOST.exec(host)
  if (byHost) return { port: Number(byHost[1]), key: byHost[2] ?? '', path: `${url.pathname}${url.search}` }
  const byPath = PATH.exec(url.pathname)
  return byPath
    ? { port: Number(byPath[1]), key: byPath[2] ?? '', path: `${byPath[3] ?? '/'}${url.search}` }
    : undefined
}

/** The sandbox behind a preview link; undefined when the caller must log in first. */
export function admitPreview(
  service: DaytonaService,
  target: PreviewTarget,
  request: IncomingMessage,
  url: URL,
): SandboxRecord | undefined {
  const signedFor = service.previews.findSigned(target.key, target.port)
  const record = service.sandboxes.findById(signedFor ?? target.key)
  if (!record) throw proxyError(404, 'sandbox container not found')
  const isOpen = record.isPublic && !GUARDED_PORTS.has(target.port)
  if (signedFor === undefined && !isOpen && !isAdmitted(service, record, request, url)) return undefined
  runningToolbox(record)
  service.activity.note(record, 'proxy')
  return record
}

/** A browser is sent to log in, unlike a caller of the toolbox [P190]. */
export async function servePreview(service: DaytonaService, target: PreviewTarget, exchange: Exchange): Promise<void> {
  const record = admitPreview(service, target, exchange.request, exchange.url)
  if (!record) return exchange.send(307, '', { location: `${service.origin}/login` })
  exchange.record.sandboxId = record.id
  await new Promise<void>((resolve, reject) => {
    const upstream = httpRequest({
      host: '127.0.0.1',
      port: target.port,
      method: exchange.method,
      path: target.path,
      headers: exchange.headers,
    })
    upstream.once('response', (response) => {
      exchange.stream(response.statusCode ?? 502, plainHeaders(response), response).then(resolve, reject)
    })
    upstream.once('error', () => reject(proxyError(502, 'bad gateway: nothing answers on the port')))
    exchange.onClientGone(() => upstream.destroy())
    exchange.request.pipe(upstream)
  })
}

/** Passes an upgrade on byte for byte. */
export function tunnelPreview(
  service: DaytonaService,
  target: PreviewTarget,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  record: SandboxRecord,
): void {
  const release = service.activity.hold(record)
  const upstream = connect(target.port, '127.0.0.1', () => {
    const headers = request.rawHeaders.flatMap((name, index) =>
      index % 2 === 0 ? [`${name}: ${request.rawHeaders[index + 1] ?? ''}`] : [],
    )
    upstream.write(`GET ${target.path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`)
    upstream.write(head)
    upstream.pipe(socket).pipe(upstream)
  })
  const end = (): void => {
    upstream.destroy()
    socket.destroy()
  }
  record.toolbox?.closing.addEventListener('abort', end, { once: true })
  upstream.once('error', end)
  socket.once('error', end)
  socket.once('close', () => {
    release()
    end()
  })
}

function plainHeaders(response: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(response.headers)) {
    if (name !== 'transfer-encoding' && value !== undefined) headers[name] = String(value)
  }
  return headers
}
