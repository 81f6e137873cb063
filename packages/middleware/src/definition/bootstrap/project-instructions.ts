import { isHoldfastError } from '@holdfast/core'
import type { SandboxHandle } from '@holdfast/core'
import type { SandboxBuild } from '../ensure/sandbox-build.ts'
import type { Step } from '../run-steps.ts'
import { workspaceRoot } from '../workspace-marker.ts'

const BEGIN = '<!-- holdfast: instructions of this workspace -->'
const END = '<!-- holdfast: end -->'

/**
 * Writes the instructions to `AGENTS.md`, behind what the repository says there, and makes `CLAUDE.md` point to it where
 * there is none.
 */
export const projectInstructions: Step<SandboxBuild> = {
  name: 'project instructions',
  async run(build) {
    const { workspace } = build.definition
    if (workspace.instructions === undefined) return
    build.report('projecting', 'instructions')
    const root = workspaceRoot(workspace)
    const { fs } = build.handle
    const existing = await readIfPresent(build.handle, `${root}/AGENTS.md`)
    await fs.write(`${root}/AGENTS.md`, withInstructions(existing, workspace.instructions))
    if (!(await fs.exists(`${root}/CLAUDE.md`))) await fs.write(`${root}/CLAUDE.md`, '@AGENTS.md\n')
  },
}

async function readIfPresent(handle: SandboxHandle, path: string): Promise<string> {
  try {
    return await handle.fs.read(path)
  } catch (error) {
    if (isHoldfastError(error, 'FILE_NOT_FOUND')) return ''
    throw error
  }
}

function withInstructions(existing: string, instructions: string): string {
  const block = `${BEGIN}\n${instructions.trim()}\n${END}\n`
  return existing.trim() === '' ? block : `${existing.trimEnd()}\n\n${block}`
}
