import type { SandboxBuild } from '../ensure/sandbox-build.ts'
import type { Step } from '../run-steps.ts'
import { cloneSource } from './clone-source.ts'
import { copyLocalSource } from './copy-local-source.ts'
import { projectInstructions } from './project-instructions.ts'
import { projectScripts } from './project-scripts.ts'
import { projectSkills } from './project-skills.ts'
import { runSetup } from './run-setup.ts'
import { writeMarker } from './write-marker.ts'

/** From an empty sandbox to a workspace. An adopted sandbox that has its marker is left as it is. */
export const bootstrapSteps: readonly Step<SandboxBuild>[] = [
  cloneSource,
  copyLocalSource,
  runSetup,
  projectScripts,
  projectSkills,
  projectInstructions,
  writeMarker,
].map((step) => ({
  name: step.name,
  run: (build) => (build.isBootstrapped ? undefined : step.run(build)),
}))
