import { InvalidInputError } from '@holdfast/core'
import type { WorkspaceSkill } from '@holdfast/core'
import { assertGitUrl } from './workspace-source.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** `INVALID_CONFIGURATION` for a skill whose name or path could leave its place in the workspace. */
export function assertSkill(skill: WorkspaceSkill): void {
  switch (skill.type) {
    case 'file':
      return assertRelativePath('skill path', skill.path)
    case 'agent-skill':
    case 'mcp':
      if (!NAME.test(skill.name))
        throw invalid(`Skill name ${JSON.stringify(skill.name)} must be letters, digits, ".", "_", "-".`)
      if (skill.type === 'mcp' && !URL.canParse(skill.url)) throw invalid(`Skill ${skill.name} needs a URL.`)
      return
    case 'git':
      assertGitUrl(skill.url)
      if (skill.ref?.startsWith('-') === true) throw invalid('A skill ref must not begin with "-".')
      if (skill.dir !== undefined) assertRelativePath('skill dir', skill.dir)
      return
    default:
      throw invalid('A skill type must be "file", "agent-skill", "mcp" or "git".')
  }
}

function assertRelativePath(what: string, path: string): void {
  const names = typeof path === 'string' ? path.split('/') : []
  const isInside = names.length > 0 && names.every((name) => name !== '' && name !== '..' && !name.includes('\0'))
  if (!isInside) throw invalid(`A ${what} must be relative to the workspace and stay in it.`)
}

function invalid(message: string): InvalidInputError {
  return new InvalidInputError('INVALID_CONFIGURATION', message)
}
