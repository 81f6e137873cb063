import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Exchange } from '../http/exchange.ts'
import type { Toolbox } from './toolbox.ts'
import { fileError } from './file-info.ts'
import { WireError } from '../http/wire-error.ts'

const BOUNDARY = 'DAYTONA-FILE-BOUNDARY'

/** One part for each path, `file` or `error`, under exactly the name that was asked for: the SDK matches by it [S]. */
export async function sendFiles(exchange: Exchange, toolbox: Toolbox, paths: readonly string[]): Promise<void> {
  const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
  await exchange.stream(200, headers, allParts(toolbox, paths))
}

async function* allParts(toolbox: Toolbox, paths: readonly string[]): AsyncGenerator<Buffer> {
  for (const path of paths) yield* onePart(toolbox, path)
  yield Buffer.from(`--${BOUNDARY}--\r\n`)
}

async function* onePart(toolbox: Toolbox, path: string): AsyncGenerator<Buffer> {
  const fault = await readFault(toolbox, path)
  if (fault) {
    yield partHead('error', path, 'application/json')
    yield Buffer.from(`${JSON.stringify(fault)}\r\n`)
    return
  }
  const target = toolbox.resolvePath(path)
  const { size } = await stat(target)
  yield partHead('file', path, 'application/octet-stream', size)
  for await (const chunk of createReadStream(target)) yield chunk as Buffer
  yield Buffer.from('\r\n')
}

async function readFault(toolbox: Toolbox, path: string): Promise<object | undefined> {
  const source = toolbox.knobs.daemon === '0.190' ? {} : { source: 'DAYTONA_DAEMON' }
  if (path === '') return { statusCode: 400, message: 'path is empty', code: 'INVALID_FILE_PATH', ...source }
  try {
    const stats = await stat(toolbox.resolvePath(path))
    if (stats.isFile()) return undefined
    return { statusCode: 400, message: `not a regular file: ${path}`, code: 'INVALID_FILE_PATH', ...source }
  } catch (error) {
    const refusal = fileError(error)
    if (!(refusal instanceof WireError)) throw error
    const { status, message, code = 'FILE_READ_FAILED' } = refusal.input
    return { statusCode: status, message, code, ...source }
  }
}

function partHead(field: 'file' | 'error', name: string, type: string, size?: number): Buffer {
  const disposition = `form-data; name="${field}"; filename="${quoted(name)}"; filename*=UTF-8''${extended(name)}`
  const length = size === undefined ? '' : `Content-Length: ${size}\r\n`
  return Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: ${disposition}\r\nContent-Type: ${type}\r\n${length}\r\n`)
}

function quoted(name: string): string {
  return name.replaceAll(/["\\]/g, (match) => `\\${match}`).replaceAll(/[\r\n]/g, ' ')
}

/** RFC 5987: all but the unreserved characters as percent-encoded UTF-8. */
function extended(name: string): string {
  return encodeURIComponent(name).replaceAll(/['()*]/g, (match) => `%${match.charCodeAt(0).toString(16).toUpperCase()}`)
}
