import { routes } from './routes.ts'
import { isStopping } from './shutdown.ts'

let chatRoutes: ReturnType<typeof routes> | undefined

/** Answers one request under `/api`. */
export async function handle(request: Request): Promise<Response> {
  if (isStopping()) {
    const error = { code: 'SERVER_STOPPING', message: 'This server is stopping; try again in a moment.' }
    return Response.json({ error }, { status: 503, headers: { 'Retry-After': '1' } })
  }
  chatRoutes ??= routes()
  return chatRoutes.handle(request)
}
