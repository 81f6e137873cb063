import { createServer, request as forward } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchChrome } from '../../tools/chrome.mjs'
import { startExample } from '../../tools/example-server.mjs'
import type { ExampleServer } from '../../tools/example-server.mjs'
import { openThread } from './thread-page.ts'

const TABS = 8
const IDLE_LIMIT_MS = 3_000

let browser: Browser
let server: ExampleServer

beforeAll(async () => {
  ;[browser, server] = await Promise.all([launchChrome(), startExample()])
})
afterAll(() => Promise.all([browser?.close(), server?.dispose()]))

test('eight tabs of one browser show a run; and the last of them can stop it', async () => {
  const context = await browser.newContext()
  const first = await openThread(context, server.url, 't-eight')
  await first.send('$ echo beg""un; sleep 300')
  await first.untilText('begun')
  const tabs = [first]
  // With a stream each they would hold all connections to the server: a seventh page would wait for the end of the run.
  while (tabs.length < TABS) tabs.push(await openThread(context, server.url, 't-eight'))
  for (const tab of tabs) await tab.untilState(['running', 'detached'])
  const last = tabs.at(-1) ?? first
  await last.page.getByTestId('stop').click()
  for (const tab of tabs) await tab.untilState(['cancelled'])
  await context.close()
})

test('a proxy that cuts what is silent for 3 s does not cut a command that prints nothing for 8 s', async () => {
  const proxy = await openProxy(server.url)
  const context = await browser.newContext()
  const thread = await openThread(context, proxy.url, 't-silent')
  const states = await thread.watchStates()
  await thread.send('$ sleep 8; echo silence is over')
  await thread.untilState(['running'])
  await thread.untilText('I ran the command.')
  await thread.untilState(['done'])
  expect(states).not.toContain('reconnecting')
  expect(proxy.cut).toEqual([])
  // The send is the one stream: nothing had to be picked up again.
  expect(proxy.streams).toEqual(['POST /api/chat'])
  await context.close()
  await proxy.close()
})

interface Proxy {
  url: string
  /** Requests whose response was cut in the middle. */
  cut: string[]
  /** Requests that were answered with an event stream. */
  streams: string[]
  close: () => Promise<void>
}

/** Ends both connections of a request once nothing has come from the server for the limit. */
async function openProxy(target: string): Promise<Proxy> {
  const [cut, streams]: [string[], string[]] = [[], []]
  const proxy = createServer((request, response) => {
    const { method = 'GET', headers, url = '/' } = request
    const onward = forward(new URL(url, target), { method, headers }, (answer) => {
      const isStream = answer.headers['content-type']?.startsWith('text/event-stream') === true
      if (isStream) streams.push(`${method} ${url.split('?')[0]}`)
      answer.socket.setTimeout(IDLE_LIMIT_MS, () => {
        if (!answer.complete) cut.push(`${method} ${url}`)
        response.destroy()
        onward.destroy()
      })
      answer.on('error', () => response.destroy())
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    request.pipe(onward)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, cut, streams, close: () => closed(proxy) }
}

async function closed(server: Server): Promise<void> {
  const end = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await end
}
