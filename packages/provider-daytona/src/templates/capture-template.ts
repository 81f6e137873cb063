import { NotFoundError } from '@holdfast/core/provider-kit'
import type { SandboxService } from '../lease/sandbox-service.ts'
import { findSandbox } from '../sandbox/find-sandbox.ts'
import { takeSnapshot } from '../sandbox/snapshots.ts'

/** Makes a named template of a sandbox and answers the name to create from. */
export async function captureTemplate(
  service: SandboxService,
  sandboxId: string,
  name: string,
  signal?: AbortSignal,
): Promise<string> {
  const sandbox = await findSandbox(service.account, sandboxId, signal)
  if (sandbox === null) throw new NotFoundError('SANDBOX_NOT_FOUND', `Sandbox ${sandboxId} does not exist.`)
  return takeSnapshot(service.account, sandbox, name, signal)
}
