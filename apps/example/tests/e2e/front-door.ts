import { createServer, request as send } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One address in front of the servers, as a load balancer is for browsers. */
export interface FrontDoor {
  readonly url: string
  /** New requests go to this server. While it does not answer they get 502. */
  leadTo: (serverUrl: string) => void
  close: () => Promise<void>
}

export async function openFrontDoor(serverUrl: string): Promise<FrontDoor> {
  let target = serverUrl
  const server = createServer((request, response) => forward(target, request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    leadTo(next) {
      target = next
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/** A response that its server does not end breaks off here too. */
function forward(target: string, request: IncomingMessage, response: ServerResponse): void {
  const { method, headers, url = '/' } = request
  const onward = send(new URL(url, target), { ...(method && { method }), headers }, (answer) => {
    answer.on('error', () => response.destroy())
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  onward.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()))
  response.on('close', () => onward.destroy())
  request.pipe(onward)
}
