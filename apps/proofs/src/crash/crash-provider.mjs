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
  return daytonaProvider({ apiUrl: choice.apiUrl, apiKey: choice.apiKey, target: 'us', livenessTimeoutMs: 10_000 })
}
