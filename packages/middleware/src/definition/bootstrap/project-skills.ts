import type { SandboxHandle, WorkspaceSkill } from '@holdfast/core'
import { withScheme } from '../../secrets/bearer-secret.ts'
import type { SandboxBuild } from '../ensure/sandbox-build.ts'
import type { Step } from '../run-steps.ts'
import { workspaceRoot } from '../workspace-marker.ts'

/** Where agents look for skills. */
export const SKILL_DIRS = ['.agents/skills', '.claude/skills'] as const

type McpSkill = Extract<WorkspaceSkill, { type: 'mcp' }>
type GitSkill = Extract<WorkspaceSkill, { type: 'git' }>

/** Writes skills to where agents look for them. */
export const projectSkills: Step<SandboxBuild> = {
  name: 'project skills',
  async run(build) {
    const { workspace } = build.definition
    const root = workspaceRoot(workspace)
    const skills = workspace.skills ?? []
    if (skills.length > 0) build.report('projecting', 'skills')
    for (const skill of skills) await projectSkill(build.handle, root, skill)
    const servers = skills.filter((skill) => skill.type === 'mcp')
    if (servers.length > 0) await build.handle.fs.write(`${root}/.mcp.json`, mcpConfig(servers))
  },
}

async function projectSkill(handle: SandboxHandle, root: string, skill: WorkspaceSkill): Promise<void> {
  switch (skill.type) {
    case 'file':
      return handle.fs.write(`${root}/${skill.path}`, skill.content)
    case 'agent-skill':
      for (const dir of SKILL_DIRS) await handle.fs.write(`${root}/${dir}/${skill.name}/SKILL.md`, skill.content)
      return
    case 'git':
      return cloneSkill(handle, root, skill)
    case 'mcp':
      return
  }
}

async function cloneSkill(handle: SandboxHandle, root: string, skill: GitSkill): Promise<void> {
  const name = (skill.url.split(/[/:]/).at(-1) ?? '').replace(/\.git$/, '') || 'skill'
  const dir = `${root}/${skill.dir ?? `${SKILL_DIRS[0]}/${name}`}`
  await handle.git.clone({ url: skill.url, dir, ...(skill.ref !== undefined && { ref: skill.ref }) })
}

/** Secrets stay variables (`${NAME}`), which the agent expands: the file holds no value. */
function mcpConfig(servers: readonly McpSkill[]): string {
  const entries = servers.map(({ name, url, headers = {} }) => {
    const shown = Object.entries(headers).map(([header, value]) => [
      header,
      typeof value === 'string' ? value : withScheme(value, `\${${value.secretName}}`),
    ])
    return [name, { type: 'http', url, headers: Object.fromEntries(shown) as Record<string, string> }] as const
  })
  return `${JSON.stringify({ mcpServers: Object.fromEntries(entries) }, null, 2)}\n`
}
