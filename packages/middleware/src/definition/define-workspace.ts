import { assertEnvVars, normalizePath } from '@holdfast/core/provider-kit'
import { InvalidInputError } from '@holdfast/core'
import type { SecretRef, WorkspaceDefinition, WorkspaceSkill, WorkspaceSource } from '@holdfast/core'
import { secretEnv, secretValue } from '../secrets/create-secrets.ts'
import type { Secrets } from '../secrets/create-secrets.ts'
import { assertSkill } from './workspace-skill.ts'
import { parseSetup } from './workspace-setup.ts'
import type { WorkspaceSetup } from './workspace-setup.ts'
import { assertSource } from './workspace-source.ts'

/** What a sandbox starts with. */
export interface WorkspaceOptions extends Omit<WorkspaceDefinition, 'setup' | 'secretNames'> {
  /** Commands for a new sandbox, on one persistent shell in the workspace root. */
  setup?: WorkspaceSetup
  /** From `createSecrets`. They become variables of the sandbox. */
  secrets?: Secrets
}

/** A checked workspace: plain data, and references to its secrets. */
export interface Workspace extends WorkspaceDefinition {
  readonly secrets?: Secrets
}

export const DEFAULT_WORKSPACE_ROOT = '/workspace'

const PACKAGE_MANAGERS: readonly unknown[] = ['npm', 'pnpm', 'yarn', 'bun', undefined]
const SCRIPT_NAME = /^[A-Za-z0-9][A-Za-z0-9:._-]{0,63}$/

/** Checks and freezes what a sandbox starts with. Makes nothing. `INVALID_CONFIGURATION`, `SECRET_MISSING`. */
export function defineWorkspace(options: WorkspaceOptions = {}): Workspace {
  const { setup, secrets, root = DEFAULT_WORKSPACE_ROOT, ...rest } = options
  if (rest.source !== undefined) assertSource(rest.source)
  if (!PACKAGE_MANAGERS.includes(rest.packageManager)) throw invalid('packageManager must be npm, pnpm, yarn or bun.')
  if (!root.startsWith('/') || normalizePath(root) !== root) throw invalid('root must be an absolute, normalised path.')
  for (const skill of rest.skills ?? []) assertSkill(skill)
  for (const [name, command] of Object.entries(rest.scripts ?? {})) assertScript(name, command)
  for (const ref of secretRefs(rest.source, rest.skills)) secretValue(secrets, ref)
  const names = Object.keys(assertEnvVars(secretEnv(secrets)))
  return Object.freeze({
    ...rest,
    root,
    ...(setup !== undefined && { setup: parseSetup(setup) }),
    ...(secrets !== undefined && { secrets, secretNames: names }),
  })
}

function assertScript(name: string, command: unknown): void {
  const isUsable = SCRIPT_NAME.test(name) && typeof command === 'string' && command.trim() !== ''
  if (!isUsable) throw invalid(`Script ${JSON.stringify(name)} needs a plain name and a command.`)
}

function secretRefs(source: WorkspaceSource | undefined, skills: readonly WorkspaceSkill[] = []): SecretRef[] {
  const values: (SecretRef | string)[] = source?.type === 'git' && source.auth !== undefined ? [source.auth.token] : []
  for (const skill of skills) if (skill.type === 'mcp') values.push(...Object.values(skill.headers ?? {}))
  return values.filter((value) => typeof value !== 'string')
}

function invalid(message: string): InvalidInputError {
  return new InvalidInputError('INVALID_CONFIGURATION', message)
}
