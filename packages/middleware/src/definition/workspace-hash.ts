import type { SecretRef, WorkspaceDefinition, WorkspaceSource } from '@holdfast/core'
import { canonicalHash } from './canonical-json.ts'

/** Stands for a token that was given as text: its value must not reach a hash. */
const LITERAL_TOKEN = '[token]'

/**
 * What the workspace is made of, as 64 hex digits. Names of secrets count, values never do. The same for a definition
 * that was written in another order of keys.
 */
export function workspaceHash(workspace: WorkspaceDefinition = {}): string {
  const { source, packageManager, setup, scripts, skills, instructions, plugins, secretNames, root } = workspace
  return canonicalHash({
    source: hashableSource(source),
    packageManager,
    setup,
    scripts,
    skills: skills?.map((skill) =>
      skill.type === 'mcp' && skill.headers !== undefined ? { ...skill, headers: hashableRefs(skill.headers) } : skill,
    ),
    instructions,
    plugins,
    secretNames: secretNames?.toSorted(),
    root,
  })
}

function hashableSource(source: WorkspaceSource | undefined): unknown {
  if (source?.type !== 'git' || source.auth === undefined) return source
  return { ...source, auth: { username: source.auth.username, token: hashableRef(source.auth.token) } }
}

function hashableRefs(headers: Readonly<Record<string, SecretRef | string>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, hashableRef(value)]))
}

function hashableRef(value: SecretRef | string): unknown {
  return typeof value === 'string' ? LITERAL_TOKEN : { secretName: value.secretName }
}
