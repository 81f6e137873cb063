import type { Sandbox } from '@daytonaio/sdk'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { FakeClock } from '../../../src/clock/fake-clock.ts'
import { openSandbox, rejection } from '../../fixtures/daytona-fixture.ts'

/** What runs on a port of the sandbox, which is a port of this machine. */
async function openApp(): Promise<number> {
  const http = createServer((incoming, response) => response.end(`${incoming.method} ${incoming.url}`))
  const sockets = new WebSocketServer({ server: http })
  sockets.on('connection', (socket, incoming) => socket.send(`hello ${incoming.url}`))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const client of sockets.clients) client.terminate()
    http.closeAllConnections()
    http.close()
  })
  return (http.address() as AddressInfo).port
}

async function visit(url: string, token?: string): Promise<[number, string]> {
  const response = await fetch(url, {
    redirect: 'manual',
    headers: token === undefined ? {} : { 'x-daytona-preview-token': token },
  })
  return [response.status, await response.text()]
}

async function restart(sandbox: Sandbox): Promise<void> {
  await sandbox.stop()
  await sandbox.start()
}

test('a link needs the token of the sandbox, as a header or in the query', async () => {
  const { server, sandbox } = await openSandbox()
  const port = await openApp()
  const { url, token } = await sandbox.getPreviewLink(port)
  expect(await visit(`${url}/a?b=c`, token)).toEqual([200, 'GET /a?b=c'])
  expect((await visit(`${url}/?DAYTONA_SANDBOX_AUTH_KEY=${token}`))[0]).toBe(200)
  const response = await fetch(url, { headers: { authorization: `Bearer ${server.apiKey}` } })
  expect(response.status).toBe(200)
})

test('without one a caller is sent to log in', async () => {
  const { sandbox } = await openSandbox()
  const { url } = await sandbox.getPreviewLink(await openApp())
  expect((await visit(url))[0]).toBe(307)
  expect((await visit(url, 'wrong'))[0]).toBe(307)
})

test('a start gives a new token; the old one is good only while the proxy remembers it', async () => {
  const clock = new FakeClock()
  const { sandbox } = await openSandbox({ clock })
  const port = await openApp()
  const before = await sandbox.getPreviewLink(port)
  expect((await visit(before.url, before.token))[0]).toBe(200)
  await restart(sandbox)
  const after = await sandbox.getPreviewLink(port)
  expect(after.url).toBe(before.url)
  expect(after.token).not.toBe(before.token)
  expect((await visit(after.url, after.token))[0]).toBe(200)
  expect((await visit(after.url, before.token))[0]).toBe(200)
  await clock.advance(120_000)
  expect((await visit(after.url, before.token))[0]).toBe(307)
})

test('a resume from pause keeps the token', async () => {
  const { sandbox } = await openSandbox({ sandboxClass: 'linux-vm' })
  const { token } = await sandbox.getPreviewLink(80)
  await sandbox.pause()
  await sandbox.start()
  expect((await sandbox.getPreviewLink(80)).token).toBe(token)
})

test('nothing on the port is 502, a stopped sandbox 400, a destroyed one 404', async () => {
  const { sandbox } = await openSandbox()
  const { url, token } = await sandbox.getPreviewLink(1)
  expect((await visit(url, token))[0]).toBe(502)
  await sandbox.stop()
  expect((await visit(url, token))[0]).toBe(400)
  await sandbox.delete(60, true)
  expect((await visit(url, token))[0]).toBe(404)
})

test.each([0, 65_536])('port %s is 400', async (port) => {
  const { sandbox } = await openSandbox()
  expect(await rejection(sandbox.getPreviewLink(port))).toMatchObject({ statusCode: 400 })
})

test('a signed link holds for its port and its time, over restarts, and can be ended', async () => {
  const clock = new FakeClock()
  const { sandbox } = await openSandbox({ clock })
  const port = await openApp()
  const { url } = await sandbox.getSignedPreviewUrl(port)
  await restart(sandbox)
  expect((await visit(url))[0]).toBe(200)
  expect((await visit(url.replace(`${port}-`, '1-')))[0]).toBe(404)
  await clock.advance(60_000)
  expect((await visit(url))[0]).toBe(404)
  const other = await sandbox.getSignedPreviewUrl(port, 3_600)
  await sandbox.expireSignedPreviewUrl(port, other.token)
  expect((await visit(other.url))[0]).toBe(404)
})

test('a WebSocket passes through, and ends with the sandbox', async () => {
  const { sandbox } = await openSandbox()
  const { url, token } = await sandbox.getPreviewLink(await openApp())
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/live`, { headers: { 'x-daytona-preview-token': token } })
  expect(await new Promise((resolve) => socket.once('message', (data: Buffer) => resolve(data.toString())))).toBe(
    'hello /live',
  )
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  await sandbox.stop()
  expect(await closed).toBe(1006)
})

test('a link by host name works where the name is known', async () => {
  const { sandbox } = await openSandbox({ previewStyle: 'subdomain' })
  const { url, token } = await sandbox.getPreviewLink(await openApp())
  const { host, port } = new URL(url)
  expect(host).toMatch(new RegExp(`^\\d+-${sandbox.id}\\.localhost:`))
  const status = await new Promise((resolve) =>
    request(
      { host: '127.0.0.1', port, path: '/x', headers: { host, 'x-daytona-preview-token': token } },
      (response) => {
        response.resume()
        resolve(response.statusCode)
      },
    ).end(),
  )
  expect(status).toBe(200)
})

test('a visit keeps the sandbox awake', async () => {
  const clock = new FakeClock()
  const { server, sandbox } = await openSandbox({ clock })
  const { url, token } = await sandbox.getPreviewLink(await openApp())
  await clock.advance(10 * 60_000)
  await visit(url, token)
  expect(server.sandboxes()).toMatchObject([{ lastActivityAt: clock.now() }])
})
