import type { SandboxSpawnHandle } from '@holdfast/core'
import type { ProviderMutant } from './provider-mutant.ts'

function withSpawned(
  change: (good: SandboxSpawnHandle) => Partial<SandboxSpawnHandle>,
): NonNullable<ProviderMutant['handle']> {
  return (good) => ({
    process: {
      ...good.process,
      spawn: async (command, options) => {
        const spawned = await good.process.spawn(command, options)
        return { ...spawned, ...change(spawned) }
      },
    },
  })
}

/** Providers whose started processes are wrong. */
export const SPAWN_MUTANTS: readonly ProviderMutant[] = [
  {
    name: 'kill ends the process but not its children',
    base: 'process',
    handle: withSpawned((good) => ({
      kill: async (signal = 'SIGTERM') => {
        try {
          process.kill(good.pid, signal)
        } catch {
          return
        }
        await good.wait()
      },
    })),
    hangs: true,
    among: ['kill.ends', 'kill.after', 'kill.stubborn', 'kill.stops', 'kill.leaves'],
    detectedBy: ['kill.after-the-leader', 'kill.ends-the-tree', 'kill.stubborn'],
  },
  {
    name: 'the input of a process never ends',
    base: 'process',
    handle: withSpawned((good) => ({ stdin: { ...good.stdin, end: async () => undefined } })),
    hangs: true,
    among: ['spawn.'],
    detectedBy: ['spawn.stdin.after-end', 'spawn.stdin.dialogue', 'spawn.stdin.large', 'spawn.stdin.writes'],
  },
  {
    name: 'writing to a process that ended works in silence',
    base: 'process',
    handle: withSpawned((good) => ({
      stdin: { ...good.stdin, write: (data) => good.stdin.write(data).catch(() => undefined) },
    })),
    among: ['spawn.'],
    detectedBy: ['spawn.stdin.after-end', 'spawn.stdin.after-exit'],
  },
]
