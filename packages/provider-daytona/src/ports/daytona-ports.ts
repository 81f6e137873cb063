import type { SandboxChannel } from '@holdfast/core'
import { InvalidInputError } from '@holdfast/core/provider-kit'
import { foreignAnswer } from '../errors.ts'
import type { LiveSandbox } from '../lease/live-sandbox.ts'
import { sha256 } from '../naming.ts'

export const PREVIEW_TOKEN_HEADER = 'x-daytona-preview-token'

/** A port's address, its credentials in headers only. */
export async function connectPort(live: LiveSandbox, port: number): Promise<SandboxChannel> {
  const { url, token } = await previewLink(live, 'port connect', port)
  return { url, token, headers: { [PREVIEW_TOKEN_HEADER]: token } }
}

async function previewLink(
  live: LiveSandbox,
  operation: string,
  port: number,
): Promise<{ url: string; token: string }> {
  return live.request({ operation, isRepeatable: true }, async () => {
    const { url, token } = await live.vendor.getPreviewLink(port)
    if (!URL.canParse(url) || typeof token !== 'string') throw foreignAnswer(operation)
    return { url, token }
  })
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
  const { url, token } = await previewLink(live, 'ingress open', port)
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
