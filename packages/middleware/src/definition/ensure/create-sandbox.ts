import { isHoldfastError } from '@holdfast/core'
import type { SandboxHandle } from '@holdfast/core'
import { destroyInTime } from '../destroy-in-time.ts'
import type { Step } from '../run-steps.ts'
import { hasMarker, workspaceRoot } from '../workspace-marker.ts'
import type { SandboxBuild } from './sandbox-build.ts'

/** Makes the sandbox, or adopts what a lost reply, a crash or a lost row left behind under the same key. */
export const createSandbox: Step<SandboxBuild> = {
  name: 'create sandbox',
  async run(build) {
    build.report('creating')
    build.handle = await create(build)
    build.isBootstrapped = await hasMarker(build.handle, build.definition.workspace, build)
    if (build.isBootstrapped) {
      build.origin = 'resumed'
      return
    }
    if (build.previous?.state === 'intent' && (await hasLeftovers(build))) await startOver(build)
  },
}

async function create(build: SandboxBuild): Promise<SandboxHandle> {
  const { provider, workspace, policy } = build.definition
  const { adapterName } = build.context
  try {
    return await provider.create({
      id: build.key,
      labels: build.labels,
      workspace,
      signal: build.signal,
      ...(policy !== undefined && { policy }),
      ...(adapterName !== undefined && { adapterName }),
    })
  } catch (error) {
    build.isForeign = isHoldfastError(error, 'SANDBOX_FOREIGN')
    throw error
  }
}

async function hasLeftovers(build: SandboxBuild): Promise<boolean> {
  return (await build.handle.fs.list(workspaceRoot(build.definition.workspace))).length > 0
}

/** No run has used a sandbox whose row never became ready, so nothing is lost with a half-built one. */
async function startOver(build: SandboxBuild): Promise<void> {
  await destroyInTime(build.definition, build.sandboxId, build.clock)
  build.handle = await create(build)
}
