import type { SandboxProbe } from '@holdfast/core'
import type { SandboxService } from '../lease/sandbox-service.ts'
import { newNonce } from '../naming.ts'

/** Creates a sandbox, looks whether it runs commands, and always removes it. */
export async function probeService(service: SandboxService, signal?: AbortSignal): Promise<SandboxProbe> {
  const live = await service.openNew({ key: `probe-${newNonce()}`, labels: { 'holdfast.purpose': 'probe' }, signal })
  // A sandbox that was prepared has run a command, so nothing is left to try.
  await service.destroy(live.id)
  return { ok: true }
}
