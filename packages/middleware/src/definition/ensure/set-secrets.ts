import { secretEnv } from '../../secrets/create-secrets.ts'
import type { SandboxHandle } from '@holdfast/core'
import type { Workspace } from '../define-workspace.ts'

/** Gives the sandbox its secrets as variables. After every resume and restore too: they are part of no disk. */
export async function setSecrets(handle: SandboxHandle, workspace: Workspace): Promise<void> {
  const vars = secretEnv(workspace.secrets)
  if (Object.keys(vars).length > 0) await handle.env.set(vars)
}
