import { createHmac, timingSafeEqual } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { DaytonaService } from '../daytona-service.ts'
import type { Exchange } from '../http/exchange.ts'
import { daemonError, proxyError } from '../http/wire-error.ts'
import { fileError } from './file-info.ts'
import { runningToolbox } from './toolbox-gate.ts'

const PATHS: Record<string, string> = { 'GET /files/download': 'GET', 'POST /files/upload-v2': 'POST' }

/** Serves a signed file link, which needs no key. False when the request is none. */
export async function serveSignedFile(
  service: DaytonaService,
  exchange: Exchange,
  sandboxId: string,
  path: string,
): Promise<boolean> {
  if (!(`${exchange.method} ${path}` in PATHS) || exchange.query('signature') === undefined) return false
  const record = service.sandboxes.findById(sandboxId)
  if (!record) throw proxyError(404, `sandbox container not found: ${sandboxId}`)
  const file = exchange.query('path') ?? ''
  assertSignature(record.signingKey, exchange, file, service.now())
  const target = runningToolbox(record).resolvePath(file)
  try {
    if (exchange.method === 'GET') await sendFile(exchange, target)
    else await storeFile(exchange, target)
  } catch (error) {
    throw fileError(error)
  }
  return true
}

/** `v1_` and the HMAC-SHA256 of method, path and expiry under the sandbox's signing key [S]. */
function assertSignature(key: string, exchange: Exchange, file: string, now: number): void {
  const expires = Number(exchange.query('expires') ?? Number.NaN)
  const digest = createHmac('sha256', key).update(`v1:files:${exchange.method}:${file}:${expires}`).digest('base64url')
  const expected = Buffer.from(`v1_${digest}`)
  const given = Buffer.from(exchange.query('signature') ?? '')
  const isEqual = given.length === expected.length && timingSafeEqual(given, expected)
  // An expiry of 0 never comes.
  if (!isEqual || (expires !== 0 && now >= expires * 1_000)) throw daemonError(401, 'invalid or expired signature')
}

async function sendFile(exchange: Exchange, target: string): Promise<void> {
  const { size } = await stat(target)
  const headers = { 'content-type': 'application/octet-stream', 'content-length': String(size) }
  await exchange.stream(200, headers, createReadStream(target))
}

async function storeFile(exchange: Exchange, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true })
  await pipeline(exchange.request, createWriteStream(target))
  exchange.send(200)
}
