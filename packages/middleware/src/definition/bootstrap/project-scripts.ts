import type { SandboxBuild } from '../ensure/sandbox-build.ts'
import type { Step } from '../run-steps.ts'
import { privatePath } from '../workspace-marker.ts'

const EXECUTABLE = 0o755

/** Writes each script as a program in `.holdfast/bin`, for agents that look for commands there. */
export const projectScripts: Step<SandboxBuild> = {
  name: 'project scripts',
  async run(build) {
    const { workspace } = build.definition
    for (const [name, command] of Object.entries(workspace.scripts ?? {})) {
      const path = privatePath(workspace, `bin/${name}`)
      await build.handle.fs.write(path, `#!/bin/sh\n${command}\n`)
      await build.handle.fs.chmod?.(path, EXECUTABLE)
    }
  },
}
