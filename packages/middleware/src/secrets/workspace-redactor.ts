import type { Workspace } from '../definition/define-workspace.ts'
import { secretEnv } from './create-secrets.ts'
import { SecretRedactor } from './secret-redactor.ts'
import { secretWeakness } from './secret-strength.ts'

const REDACTORS = new WeakMap<Workspace, SecretRedactor>()

/** For everything that a workspace registered, a git token given as text included. One per workspace. */
export function workspaceRedactor(workspace: Workspace): SecretRedactor {
  const known = REDACTORS.get(workspace)
  if (known !== undefined) return known
  const redactor = new SecretRedactor([...Object.values(secretEnv(workspace.secrets)), ...literalTokens(workspace)])
  REDACTORS.set(workspace, redactor)
  return redactor
}

function literalTokens({ source }: Workspace): string[] {
  const token = source?.type === 'git' ? source.auth?.token : undefined
  return typeof token === 'string' && secretWeakness(token) === undefined ? [token] : []
}
