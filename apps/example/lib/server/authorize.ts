const LOCAL_NAMES = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * This app has one user and no login, so the one thing to refuse is another web page that sends commands from that
 * user's browser. Put your own session check here and return its user: `{ userId }`.
 */
export function authorize(request: Request): Record<string, never> | null {
  const origin = request.headers.get('origin')
  const host = request.headers.get('x-forwarded-host') ?? request.headers.get('host') ?? ''
  if (origin !== null && hostOf(origin) !== host) return null
  // A name that merely resolves to this machine is how a foreign page gets around the check above.
  const isPublic = Boolean(process.env['HOST'])
  return isPublic || LOCAL_NAMES.has(host.replace(/:\d+$/, '')) ? {} : null
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}
