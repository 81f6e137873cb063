import { ProviderError } from '@holdfast/core/provider-kit'
import type { DaytonaAccount } from '../account/daytona-account.ts'
import { isGone } from '../errors.ts'
import { isOwnedBy, sandboxName } from '../naming.ts'
import type { VendorSandbox } from '../sdk.ts'
import { keepIdentity } from './keep-identity.ts'

type Labels = Readonly<Record<string, string>>

/** The sandbox with this id or name; null only when the service said that there is none. */
export async function findSandbox(
  account: DaytonaAccount,
  idOrName: string,
  signal?: AbortSignal,
): Promise<VendorSandbox | null> {
  try {
    const request = { operation: 'sandbox read', isRepeatable: true, signal }
    return await account.request(request, async (client) => assertSandbox(await client.get(idOrName), idOrName))
  } catch (error) {
    if (isGone(error)) return null
    throw error
  }
}

/** Also finds it by the key that it was created with, as a record that was written before the create has it. */
export async function findSandboxByIdOrKey(
  account: DaytonaAccount,
  idOrKey: string,
  signal?: AbortSignal,
): Promise<VendorSandbox | null> {
  const byId = await findSandbox(account, idOrKey, signal)
  return byId ?? (await findSandbox(account, sandboxName(idOrKey), signal))
}

/** The sandbox that this key made, when its labels prove that it is the caller's. */
export async function findOwnSandbox(
  account: DaytonaAccount,
  input: { key: string; labels: Labels; signal?: AbortSignal | undefined },
): Promise<{ sandbox: VendorSandbox; isOwn: boolean } | null> {
  const sandbox = await findSandbox(account, sandboxName(input.key), input.signal)
  return sandbox === null ? null : { sandbox, isOwn: isOwnedBy(input.key, input.labels, sandbox.labels) }
}

/** Reads the sandbox again. Rejects with `SANDBOX_NOT_FOUND` when the service says that it is gone. */
export async function refreshSandbox(
  account: DaytonaAccount,
  sandbox: VendorSandbox,
  signal?: AbortSignal,
): Promise<void> {
  await account.request({ operation: 'sandbox read', isRepeatable: true, signal }, () =>
    keepIdentity(sandbox, () => sandbox.refreshData()),
  )
}

/** A proxy or a wrong address may answer 200 with something else. */
function assertSandbox(sandbox: VendorSandbox, asked: string): VendorSandbox {
  const { id, name } = sandbox
  if (typeof id === 'string' && id !== '' && (id === asked || name === asked)) return sandbox
  throw new ProviderError('PROVIDER_FAILED', 'The answer is not the sandbox that was asked for. Check apiUrl.', {
    details: { operation: 'sandbox read' },
    retryable: true,
  })
}
