import type { ChatRoute } from './chat-route.ts'

interface Check {
  name: string
  ok: boolean
  reason?: string
}

/** Which store, provider and model are in use, and whether each works. 503 when one does not. */
export const health: ChatRoute = async (context, request) => {
  await context.access.tenant(request, 'health')
  const { stores, sandbox, modelName = 'unnamed' } = context.options
  const [store, provider] = await Promise.all([
    check(stores.backend, () => stores.ping()),
    check(sandbox.provider.name, () => probe(context.options.sandbox.provider)),
  ])
  const model: Check = { name: modelName, ok: true }
  const ok = store.ok && provider.ok
  return Response.json({ ok, store, provider, model }, { status: ok ? 200 : 503 })
}

async function check(name: string, work: () => Promise<void>): Promise<Check> {
  try {
    await work()
    return { name, ok: true }
  } catch (error) {
    return { name, ok: false, reason: error instanceof Error ? error.message : 'It failed.' }
  }
}

async function probe(provider: ChatProvider): Promise<void> {
  const result = await provider.probe?.()
  if (result?.ok === false) throw new Error(result.reason ?? 'The provider cannot be used.')
}

type ChatProvider = Parameters<ChatRoute>[0]['options']['sandbox']['provider']
