import type { SandboxBuild } from '../ensure/sandbox-build.ts'
import type { Step } from '../run-steps.ts'
import { markerPath, markerText, privatePath } from '../workspace-marker.ts'

/** Says that the workspace is complete. Last of the bootstrap, so that a half-built one is never taken for a whole one. */
export const writeMarker: Step<SandboxBuild> = {
  name: 'write marker',
  async run(build) {
    const { workspace } = build.definition
    await build.handle.fs.write(privatePath(workspace, '.gitignore'), '*\n')
    await build.handle.fs.write(markerPath(workspace), markerText(build))
  },
}
