export async function register(): Promise<void> {
  if (process.env['NEXT_RUNTIME'] !== 'nodejs') return
  const [{ reaper }, { stopOnSignal }, { stores }] = await Promise.all([
    import('./lib/server/reaper.ts'),
    import('./lib/server/shutdown.ts'),
    import('./lib/server/stores.ts'),
  ])
  stopOnSignal()
  reaper()
  // Opens the store ahead of the first request. What fails here is tried again then, and told by /api/health.
  stores()
    .ping()
    .catch((error: unknown) => console.error('The store could not be opened yet.', error))
}
