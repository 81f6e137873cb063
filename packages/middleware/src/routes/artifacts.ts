import type { ChatRoute } from './chat-route.ts'
import { checkpointsOf } from './thread-checkpoints.ts'

/** What the thread's agents published, oldest first. */
export const listArtifacts: ChatRoute = async (context, request, { threadId = '' }) => {
  const { tenant } = await context.access.thread(request, 'read', threadId)
  const records = await checkpointsOf(context).artifacts.list({ threadId, tenant })
  const artifacts = records.map(({ artifactId, name, mimeType, size, createdAt, runId }) => ({
    artifactId,
    name,
    mimeType,
    size,
    createdAt,
    runId,
  }))
  return Response.json({ artifacts })
}

/**
 * An artifact's bytes under its name and type, of the thread or of the checkpoint named by `?checkpoint=`. Always as a
 * download: whatever its type, it came out of a sandbox, and must not run as a page of this site.
 */
export const readArtifact: ChatRoute = async (context, request, { threadId = '', artifactId = '' }) => {
  const { tenant } = await context.access.thread(request, 'read', threadId)
  const checkpointId = new URL(request.url).searchParams.get('checkpoint')
  const { artifact, body } = await checkpointsOf(context).readArtifact({
    threadId,
    tenant,
    artifactId,
    ...(checkpointId === null ? {} : { checkpointId }),
  })
  return new Response(body, {
    headers: {
      'Content-Type': artifact.mimeType,
      'Content-Length': String(artifact.size),
      'Content-Disposition': `attachment; filename*=UTF-8''${encodedName(artifact.name)}`,
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'Cache-Control': 'private, no-store',
    },
  })
}

function encodedName(name: string): string {
  return encodeURIComponent(name).replaceAll(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16)}`)
}
