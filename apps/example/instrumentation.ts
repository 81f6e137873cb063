export async function register(): Promise<void> {
  if (process.env['NEXT_RUNTIME'] !== 'nodejs') return
  const { stopOnSignal } = await import('./lib/server/shutdown.ts')
  await stopOnSignal()
}
