import { ProviderError } from '@holdfast/core/provider-kit'
import type { VendorSandbox } from '../sdk.ts'

/**
 * Calls the vendor's sandbox, which takes over whatever fields an answer has. An answer that is not about this sandbox,
 * such as a web page of a gateway, is undone and rejects as a failure that may pass.
 */
export async function keepIdentity<T>(sandbox: VendorSandbox, call: () => Promise<T>): Promise<T> {
  const { id, name, state, labels } = sandbox
  try {
    const result = await call()
    if (sandbox.id === id) return result
  } catch (error) {
    if (sandbox.id === id) throw error
  }
  Object.assign(sandbox, { id, name, state, labels })
  const message = 'The answer is not about the sandbox that was asked for. Check apiUrl.'
  throw new ProviderError('PROVIDER_UNAVAILABLE', message, { details: { sandboxId: id }, retryable: true })
}
