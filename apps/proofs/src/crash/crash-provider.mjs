// @ts-check
import { processProvider } from '@holdfast/testing'

/** @typedef {{ kind: 'process', dir: string } | { kind: 'daytona', apiUrl: string, apiKey: string }} ProviderChoice */

/**
 * The provider that a host was told to use. The SDK is loaded only where it is.
 * @param {ProviderChoice} choice
 */
export async function crashProvider(choice) {
  if (choice.kind === 'process') return processProvider({ dir: choice.dir })
  const { daytonaProvider } = await import('@holdfast/provider-daytona')
  const { apiUrl, apiKey } = choice
  const provider = daytonaProvider({ apiUrl, apiKey, target: 'us', livenessTimeoutMs: 10_000 })
  // Loading the SDK stops the process for longer than these hosts' leases last on a busy machine: before the run, then.
  await provider.list?.({ labels: { holdfast: 'nothing' } })
  return provider
}
