import type { SandboxCapabilities, SandboxHandle, SandboxProvider } from '@holdfast/core'
import { providerSuite, providerTarget } from '../../../src/index.ts'
import type { ConformanceTarget, ProviderSubject } from '../../../src/index.ts'
import { openMemory, openProcess, MEMORY_LACKS, PROCESS_LACKS } from '../provider-targets.ts'

/** A provider that is right in everything but one thing. */
export interface ProviderMutant {
  name: string
  /** The good provider that is broken. */
  base: 'memory' | 'process'
  provider?: (good: SandboxProvider) => Partial<SandboxProvider>
  handle?: (good: SandboxHandle) => Partial<SandboxHandle>
  capabilities?: (good: SandboxCapabilities) => SandboxCapabilities
  /** Some of its cases end by their time limit. */
  hangs?: boolean
  /** Beginnings of the ids of the cases that are run: the groups that the fault touches. */
  among: readonly string[]
  /** The cases that must fail; all others of those groups must pass. */
  detectedBy: readonly string[]
}

export function mutantTarget(mutant: ProviderMutant): ConformanceTarget<ProviderSubject> {
  const isMemory = mutant.base === 'memory'
  const open = isMemory ? openMemory : openProcess
  const capabilitiesOf = mutant.capabilities ?? ((good: SandboxCapabilities) => good)
  return providerTarget({
    name: mutant.name,
    capabilities: capabilitiesOf(open.capabilities),
    lacks: isMemory ? MEMORY_LACKS : PROCESS_LACKS,
    open: async () => {
      const opened = await open()
      return { ...opened, provider: broken(opened.provider, mutant) }
    },
  })
}

/** The ids of the cases that the mutant is run on. */
export function casesAmong({ among }: ProviderMutant): string[] {
  return providerSuite.cases.map(({ id }) => id).filter((id) => among.some((beginning) => id.startsWith(beginning)))
}

function broken(good: SandboxProvider, mutant: ProviderMutant): SandboxProvider {
  const breakHandle = (handle: SandboxHandle): SandboxHandle => ({ ...handle, ...mutant.handle?.(handle) })
  const changed: SandboxProvider = { ...good, ...mutant.provider?.(good) }
  const { capabilities } = mutant
  return {
    ...changed,
    capabilities: () => (capabilities === undefined ? changed.capabilities() : capabilities(changed.capabilities())),
    create: async (input) => breakHandle(await changed.create(input)),
    resume: async (input) => {
      const handle = await changed.resume(input)
      return handle === null ? null : breakHandle(handle)
    },
  }
}
