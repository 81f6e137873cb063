import { chmod, chown, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Exchange } from '../http/exchange.ts'
import type { Handler, Router } from '../http/router.ts'
import { bareDaemonError, daemonError, WireError } from '../http/wire-error.ts'
import { copyTree } from '../control/sandbox-roots.ts'
import { sendFiles } from './file-download.ts'
import { fileError, fileInfo } from './file-info.ts'
import { findInFiles, replaceInFiles, searchFiles } from './file-search.ts'
import { receiveFiles } from './file-upload.ts'
import type { ToolboxOf } from './session-routes.ts'
import { readJson } from './read-json.ts'

export function addFileRoutes(router: Router, toolboxOf: ToolboxOf): void {
  const path = (exchange: Exchange, name = 'path'): string => {
    const value = exchange.query(name)
    if (value === undefined || value === '') throw bareDaemonError(400, `${name} is required`, 'INVALID_FILE_PATH')
    return toolboxOf(exchange).resolvePath(value)
  }
  const add = (method: string, pattern: string, handler: Handler): Router =>
    router.add(method, pattern, mapped(handler))
  add('GET', '/files', async (exchange) => {
    const directory = toolboxOf(exchange).resolvePath(exchange.query('path') ?? '.')
    exchange.json(200, await listDirectory(directory, Number(exchange.query('depth') ?? 1)))
  })
  add('GET', '/files/info', async (exchange) => exchange.json(200, await fileInfo(path(exchange))))
  add('POST', '/files/folder', async (exchange) => {
    await makeFolder(path(exchange), exchange.query('mode'))
    exchange.send(201)
  })
  add('DELETE', '/files', async (exchange) => {
    await deletePath(path(exchange), exchange.query('recursive') === 'true')
    exchange.send(204)
  })
  add('POST', '/files/move', async (exchange) => {
    await movePath(path(exchange, 'source'), path(exchange, 'destination'))
    exchange.send(200)
  })
  add('POST', '/files/permissions', async (exchange) => {
    await setPermissions(path(exchange), exchange)
    exchange.send(200)
  })
  add('GET', '/files/find', async (exchange) => {
    exchange.json(200, await findInFiles(path(exchange), exchange.query('pattern') ?? ''))
  })
  add('GET', '/files/search', async (exchange) => {
    exchange.json(200, { files: await searchFiles(path(exchange), exchange.query('pattern') ?? '') })
  })
  add('POST', '/files/replace', async (exchange) => {
    const toolbox = toolboxOf(exchange)
    const body = await readJson<{ files: string[]; pattern: string; newValue: string }>(exchange)
    const files = (body.files ?? []).map((file) => toolbox.resolvePath(file))
    exchange.json(200, await replaceInFiles(files, body.pattern ?? '', body.newValue ?? ''))
  })
  add('POST', '/files/bulk-upload', (exchange) => receiveFiles(exchange, toolboxOf(exchange)))
  add('POST', '/files/bulk-download', async (exchange) => {
    const { paths } = await readJson<{ paths: string[] }>(exchange)
    if (!Array.isArray(paths) || paths.length === 0) throw daemonError(400, 'request must contain at least one path')
    await sendFiles(exchange, toolboxOf(exchange), paths)
  })
}

function mapped(handler: Handler): Handler {
  return async (exchange) => {
    try {
      await handler(exchange)
    } catch (error) {
      throw error instanceof WireError ? error : fileError(error)
    }
  }
}

/** A dangling link is left out [D190]. */
async function listDirectory(directory: string, depth: number): Promise<object[]> {
  if (!(await stat(directory)).isDirectory())
    throw bareDaemonError(400, `not a directory: ${directory}`, 'INVALID_FILE_PATH')
  const infos: object[] = []
  for (const name of await readdir(directory)) {
    const path = join(directory, name)
    const info = await infoOrNothing(path)
    if (!info) continue
    infos.push(info)
    if (depth > 1 && info['isDir'] === true) infos.push(...(await listDirectory(path, depth - 1)))
  }
  return infos
}

async function infoOrNothing(path: string): Promise<Record<string, unknown> | undefined> {
  try {
    return await fileInfo(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

async function makeFolder(path: string, mode: string | undefined): Promise<void> {
  const octal = mode === undefined || mode === '' ? 0o755 : parseMode(mode)
  await mkdir(path, { recursive: true, mode: octal })
}

function parseMode(mode: string): number {
  if (!/^[0-7]{1,4}$/.test(mode)) throw bareDaemonError(400, `invalid mode: ${mode}`, 'BAD_REQUEST')
  return Number.parseInt(mode, 8)
}

/** A link to a directory needs `recursive` like the directory, and then only the link goes [D190]. */
async function deletePath(path: string, recursive: boolean): Promise<void> {
  if ((await stat(path)).isDirectory() && !recursive)
    throw bareDaemonError(400, `cannot delete directory without recursive flag: ${path}`, 'INVALID_FILE_PATH')
  await rm(path, { recursive })
}

async function movePath(source: string, destination: string): Promise<void> {
  await stat(source)
  await stat(dirname(destination))
  if (await infoOrNothing(destination)) throw bareDaemonError(409, `destination exists: ${destination}`)
  try {
    await rename(source, destination)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error
    await copyTree(source, destination)
    await rm(source, { recursive: true })
  }
}

async function setPermissions(path: string, exchange: Exchange): Promise<void> {
  const stats = await stat(path)
  const mode = exchange.query('mode')
  if (mode !== undefined && mode !== '') await chmod(path, parseMode(mode))
  const owner = exchange.query('owner')
  const group = exchange.query('group')
  if (owner === undefined && group === undefined) return
  await chown(path, numericId(owner, stats.uid), numericId(group, stats.gid))
}

/** Names other than `root` are not looked up: the sandbox's users are not this machine's. */
function numericId(value: string | undefined, current: number): number {
  if (value === undefined || value === '') return current
  if (/^\d+$/.test(value)) return Number(value)
  if (value === 'root') return 0
  if (value === 'daytona') return current
  throw bareDaemonError(400, `unknown user or group: ${value}`)
}
