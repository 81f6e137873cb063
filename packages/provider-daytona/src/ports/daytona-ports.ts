import { InvalidInputError } from '@holdfast/core'
import type { SandboxChannel } from '@holdfast/core'
import type { LiveSandbox } from '../lease/live-sandbox.ts'
import { sha256 } from '../naming.ts'

export const PREVIEW_TOKEN_HEADER = 'x-daytona-preview-token'

/** A port's address, its credentials in headers only. */
export async function connectPort(live: LiveSandbox, port: number): Promise<SandboxChannel> {
  const { url, token } = await live.request({ operation: 'port connect', isRepeatable: true }, () =>
    live.vendor.getPreviewLink(port),
  )
  return { url, token, headers: { [PREVIEW_TOKEN_HEADER]: token } }
}

/** A WebSocket address of one port and path. `headers` is secret, `url` is not. */
export interface IngressEndpoint {
  url: string
  headers: Record<string, string>
  /** Changes when, and only when, the sandbox was started anew: then connections and credentials are old. */
  generation: string
}

const INGRESS_PATH = /^(?:\/[A-Za-z0-9._~-]+)*\/?$/

/** An authenticated endpoint for a service that listens in the sandbox. */
export async function openIngress(live: LiveSandbox, port: number, path: string): Promise<IngressEndpoint> {
  if (!INGRESS_PATH.test(path) || path.split('/').includes('..')) {
    throw new InvalidInputError('INVALID_ARGUMENT', 'path must be plain segments that start with /, without a query.')
  }
  const { url, token } = await live.request({ operation: 'ingress open', isRepeatable: true }, () =>
    live.vendor.getPreviewLink(port),
  )
  const endpoint = new URL(url)
  endpoint.protocol = endpoint.protocol === 'http:' ? 'ws:' : 'wss:'
  endpoint.username = ''
  endpoint.password = ''
  endpoint.search = ''
  endpoint.hash = ''
  endpoint.pathname = `${endpoint.pathname.replace(/\/$/, '')}${path}`
  const generation = sha256(`${live.id}:${token}`).slice(0, 16)
  return { url: endpoint.href, headers: { [PREVIEW_TOKEN_HEADER]: token }, generation }
}
