import { InvalidInputError, NotFoundError } from '@holdfast/core'
import type { SandboxHandle } from '@holdfast/core'
import { workspaceFiles } from '../files/workspace-files.ts'
import type { ChatRoute, ChatRouteContext } from './chat-route.ts'
import { sandboxContext } from './threads.ts'

/** Most entries that one listing gives. */
const MAX_ENTRIES = 2_000
/** Largest file that is shown. */
const MAX_FILE_BYTES = 4 * 1024 * 1024

/** The workspace's files, by path. A thread without a sandbox has none. Looks at the sandbox, so ask after changes only. */
export const listFiles: ChatRoute = async (context, request, { threadId = '' }) => {
  const handle = await findSandbox(context, request, threadId)
  if (handle === null) return Response.json({ files: [], truncated: false })
  return Response.json(await workspaceFiles(handle, { maxEntries: MAX_ENTRIES }))
}

/**
 * One file's bytes. Never as a type that a browser would run: whatever it is, it came out of a sandbox. A path outside the
 * workspace is refused.
 */
export const readFile: ChatRoute = async (context, request, { threadId = '' }) => {
  const path = new URL(request.url).searchParams.get('path')
  if (path === null || path === '') throw new InvalidInputError('INVALID_PATH', 'Name a file with ?path=.')
  const handle = await findSandbox(context, request, threadId)
  if (handle === null) throw new NotFoundError('SANDBOX_NOT_FOUND', 'This thread has no sandbox.')
  await assertReadableFile(handle, path)
  const bytes = await handle.fs.readBytes(path)
  return new Response(bytes as Uint8Array<ArrayBuffer>, {
    headers: {
      'Content-Type': 'application/octet-stream',
      'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(path.split('/').at(-1) ?? 'file')}`,
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "default-src 'none'; sandbox",
    },
  })
}

async function assertReadableFile(handle: SandboxHandle, path: string): Promise<void> {
  const stat = await handle.fs.lstat?.(path)
  if (stat === undefined) return
  if (stat.type === 'dir') throw new InvalidInputError('INVALID_PATH', `${path} is a directory.`)
  if (stat.type === 'file' && stat.size > MAX_FILE_BYTES) {
    throw new InvalidInputError('FILE_TOO_LARGE', `${path} has ${stat.size} bytes; the limit is ${MAX_FILE_BYTES}.`, {
      details: { path, size: stat.size, limit: MAX_FILE_BYTES },
    })
  }
}

async function findSandbox(
  context: ChatRouteContext,
  request: Request,
  threadId: string,
): Promise<SandboxHandle | null> {
  const { tenant } = await context.access.thread(request, 'read', threadId)
  return context.options.sandbox.ensureExisting(sandboxContext(context, tenant, threadId))
}
