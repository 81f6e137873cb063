import busboy from 'busboy'
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Exchange } from '../http/exchange.ts'
import { bareDaemonError } from '../http/wire-error.ts'
import type { Toolbox } from './toolbox.ts'

const PATH_FIELD = /^files\[(\d+)\]\.path$/
const FILE_FIELD = /^files\[(\d+)\]\.file$/

interface UploadState {
  readonly paths: Map<string, string>
  readonly files: { path: string; bytes: number }[]
  readonly errors: string[]
  readonly writes: Promise<void>[]
  received: number
}

/**
 * Writes each part to the path that came before it, white space of the path trimmed. The file is truncated and filled in
 * place, through links, so that a cut upload leaves a part [M].
 */
export async function receiveFiles(exchange: Exchange, toolbox: Toolbox): Promise<void> {
  const state: UploadState = { paths: new Map(), files: [], errors: [], writes: [], received: 0 }
  const form = openForm(exchange)
  form.on('field', (name, value) => {
    const index = PATH_FIELD.exec(name)?.[1]
    if (index !== undefined) state.paths.set(index, value.trim())
  })
  form.on('file', (name, content) => {
    const path = state.paths.get(FILE_FIELD.exec(name)?.[1] ?? '')
    if (path === undefined || path === '') {
      state.errors.push(`${name}: the path must come before the file`)
      content.resume()
      return
    }
    state.writes.push(writePart(exchange, toolbox.resolvePath(path), path, content, state))
  })
  await readForm(exchange, form)
  await Promise.all(state.writes)
  if (exchange.isAnswered) return
  if (state.errors.length > 0) exchange.json(400, { errors: state.errors, files: state.files })
  else exchange.json(200, { files: state.files })
}

function openForm(exchange: Exchange): busboy.Busboy {
  try {
    return busboy({
      headers: exchange.headers,
      preservePath: true,
      defParamCharset: 'utf8',
      limits: { fieldSize: 64 * 1024 },
    })
  } catch (error) {
    throw bareDaemonError(400, error instanceof Error ? error.message : 'not a multipart form')
  }
}

async function writePart(
  exchange: Exchange,
  target: string,
  path: string,
  content: Readable,
  state: UploadState,
): Promise<void> {
  let bytes = 0
  // A client that goes away may do so before anything reads this part.
  content.on('error', () => undefined)
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of content as AsyncIterable<Buffer>) {
      const room = exchange.cutUploadAt === undefined ? chunk.length : exchange.cutUploadAt - state.received
      yield chunk.subarray(0, Math.max(0, room))
      bytes += chunk.length
      state.received += chunk.length
      if (room < chunk.length) return
    }
  }
  try {
    await mkdir(dirname(target), { recursive: true })
    await pipeline(counted, createWriteStream(target))
    state.files.push({ path, bytes })
  } catch (error) {
    content.resume()
    state.errors.push(`${path}: ${error instanceof Error ? error.message : 'write failed'}`)
  }
  if (exchange.cutUploadAt !== undefined && state.received >= exchange.cutUploadAt) exchange.drop()
}

/** Resolves at the end of the form, or of the connection: what arrived by then stays written. */
function readForm(exchange: Exchange, form: busboy.Busboy): Promise<void> {
  return new Promise((resolve, reject) => {
    form.once('close', resolve)
    form.on('error', (error: Error) => {
      if (exchange.request.destroyed) resolve()
      else reject(bareDaemonError(400, error.message))
    })
    exchange.request.once('close', () => {
      if (!exchange.request.complete) form.destroy()
      resolve()
    })
    exchange.request.pipe(form)
  })
}
