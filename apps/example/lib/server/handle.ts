import { isStopping } from './shutdown.ts'
import { routes } from './routes.ts'

/** Answers one request. A store that cannot be opened now is tried again with the next one. */
export async function handle(request: Request): Promise<Response> {
  if (isStopping()) return unavailable('SERVER_STOPPING', 'This server is stopping; try again in a moment.')
  try {
    const { handle: answer } = await routes()
    return await answer(request)
  } catch (error) {
    console.error('The server could not start its store or sandbox provider.', error)
    return unavailable('SERVER_UNAVAILABLE', 'The store or the sandbox provider could not be opened. See the log.')
  }
}

function unavailable(code: string, message: string): Response {
  return Response.json({ error: { code, message } }, { status: 503, headers: { 'Retry-After': '1' } })
}
