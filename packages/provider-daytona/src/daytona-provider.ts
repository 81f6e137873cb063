import { defineSandboxProvider } from '@holdfast/core/provider'
import type { SandboxBackend, SandboxCapabilities, SandboxProvider } from '@holdfast/core'
import type { DaytonaCalls } from './daytona-calls.ts'
import { mapDaytonaError } from './errors.ts'
import type { DaytonaOptions, NormalizedDaytonaOptions } from './options/daytona-options.ts'
import { requireDaytonaOptions } from './options/validate-options.ts'

const CAPABILITIES: SandboxCapabilities = {
  fs: true,
  exec: true,
  env: true,
  ports: true,
  backgroundProcesses: true,
  writableStdin: true,
  killableProcesses: true,
  snapshots: true,
  networkPolicy: true,
  durableFilesystem: true,
  fork: false,
  archive: true,
  terminal: true,
  access: true,
  symlinks: true,
  unsupported: { fork: 'Only virtual machines can be forked there; a snapshot does the same for a container.' },
}

/** Sandboxes of a Daytona account. `INVALID_CONFIGURATION` names every fault of the options at once. */
export function daytonaProvider(options: DaytonaOptions = {}): SandboxProvider {
  return defineSandboxProvider(daytonaBackend(requireDaytonaOptions(options)))
}

/** The work is loaded with the first call: importing the package costs next to nothing. */
function daytonaBackend(options: NormalizedDaytonaOptions): SandboxBackend {
  let loaded: Promise<DaytonaCalls> | undefined
  const calls = (): Promise<DaytonaCalls> => (loaded ??= loadCalls(options))
  return {
    name: 'daytona',
    capabilities: () => CAPABILITIES,
    mapError: mapDaytonaError,
    create: async (input) => (await calls()).create(input),
    resume: async (input) => (await calls()).resume(input),
    restoreSnapshot: async (input) => (await calls()).restoreSnapshot(input),
    destroy: async (input) => (await calls()).destroy(input),
    list: async (input) => (await calls()).list(input),
    park: async (input) => (await calls()).park(input),
    probe: async (input) => (await calls()).probe(input),
    templates: {
      capture: async (sandboxId, name) => (await calls()).templates.capture(sandboxId, name),
      delete: async (ref) => (await calls()).templates.delete(ref),
    },
    close: async () => (await calls()).close(),
  }
}

async function loadCalls(options: NormalizedDaytonaOptions): Promise<DaytonaCalls> {
  const { openDaytonaCalls } = await import('./daytona-calls.ts')
  return openDaytonaCalls(options)
}
