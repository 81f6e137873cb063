import { afterEach, expect, test, vi } from 'vitest'
import { authorize } from '../../lib/server/authorize.ts'

function request(headers: Record<string, string>): Request {
  return new Request('http://localhost:3000/api/chat', { headers })
}

afterEach(() => vi.unstubAllEnvs())

test.each([
  ['its own page', { host: 'localhost:3000', origin: 'http://localhost:3000' }, true],
  ['a program without an origin', { host: '127.0.0.1:3000' }, true],
  ['another page', { host: 'localhost:3000', origin: 'https://attacker.example' }, false],
  ['another port', { host: 'localhost:3000', origin: 'http://localhost:4000' }, false],
  ['a sandboxed frame', { host: 'localhost:3000', origin: 'null' }, false],
  ['a name that was pointed here', { host: 'attacker.example', origin: 'http://attacker.example' }, false],
])('%s is served: %s', (_, headers, isServed) => {
  expect(authorize(request(headers)) !== null).toBe(isServed)
})

test('behind a proxy the public name counts once HOST says that the server is public', () => {
  vi.stubEnv('HOST', '0.0.0.0')
  const headers = { host: 'internal:3000', 'x-forwarded-host': 'chat.example', origin: 'https://chat.example' }
  expect(authorize(request(headers))).not.toBeNull()
})
