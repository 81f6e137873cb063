import { providerTarget } from '@holdfast/testing'
import { describeProvider } from '@holdfast/testing/vitest'
import { describe, test } from 'vitest'
import { daytonaProvider } from '../../src/index.ts'

if (process.env['DAYTONA_API_KEY'] === undefined) {
  describe('the Daytona service', () => {
    test('is held to the provider contract', ({ skip }) => {
      console.log('skipped: no key')
      skip('skipped: no key')
    })
  })
} else {
  describeProvider(
    providerTarget({
      name: 'daytonaProvider on the service',
      capabilities: daytonaProvider().capabilities(),
      lacks: {
        watch: 'Changes are found by listing; the service sends no notices.',
        faults: 'The service cannot be told to fail.',
      },
      open: () => {
        const provider = daytonaProvider()
        const others: { close?: () => Promise<void> }[] = []
        return {
          provider,
          connect: async () => {
            const other = daytonaProvider()
            others.push(other)
            return other
          },
          httpServerCommand: (port) => `exec python3 -c "
import http.server
class H(http.server.BaseHTTPRequestHandler):
  def do_GET(self):
    self.send_response(200); self.end_headers(); self.wfile.write(b'hello')
http.server.HTTPServer(('0.0.0.0', ${port}), H).serve_forever()"`,
          dispose: async () => {
            for (const one of [provider, ...others]) await one.close?.()
          },
        }
      },
    }),
  )
}
