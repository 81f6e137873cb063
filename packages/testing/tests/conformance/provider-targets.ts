import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FaultPlan, memoryProvider, processProvider, providerTarget } from '../../src/index.ts'
import type { FaultOperation, OpenedProvider, ProviderFaults, ProviderTrait } from '../../src/index.ts'

const OUTAGE_OPERATIONS: readonly FaultOperation[] = [
  'create',
  'resume',
  'destroy',
  'list',
  'probe',
  'exec',
  'spawn',
  'fs.read',
  'fs.write',
  'fs.list',
  'fs.remove',
  'fs.exists',
  'fs.lstat',
]

function faultsOf(plan: FaultPlan): ProviderFaults {
  return {
    setOutage: (isOn) => {
      plan.clear()
      if (isOn)
        plan.add(...OUTAGE_OPERATIONS.map((on) => ({ on, do: 'fail' as const, times: Number.MAX_SAFE_INTEGER })))
    },
    loseNextReply: (on) => void plan.add({ on, do: 'lose-reply' }),
  }
}

export const PROCESS_LACKS: { readonly [trait in ProviderTrait]?: string } = {}

const serverScript = `require('http').createServer((_, answer) => answer.end('hello')).listen(process.argv[1])`

export const openProcess = Object.assign(
  async (): Promise<OpenedProvider> => {
    const dir = await mkdtemp(join(tmpdir(), 'provider-suite-'))
    const plan = new FaultPlan()
    return {
      provider: processProvider({ dir, faults: plan }),
      connect: async () => processProvider({ dir }),
      faults: faultsOf(plan),
      httpServerCommand: (port) => `exec node -e "${serverScript}" ${port}`,
      dispose: () => rm(dir, { recursive: true, force: true }),
    }
  },
  { capabilities: processProvider({ dir: tmpdir() }).capabilities() },
)

export const processTarget = providerTarget({
  name: 'processProvider',
  capabilities: openProcess.capabilities,
  lacks: PROCESS_LACKS,
  open: openProcess,
})

const interpreted = 'The shell is interpreted in the host process.'

export const MEMORY_LACKS: { readonly [trait in ProviderTrait]?: string } = {
  connect: 'The sandboxes are in the memory of one provider object.',
  httpServer: 'Nothing can listen in memory.',
  git: 'The interpreted shell has no git.',
  jobs: 'The interpreted shell runs a command with & in the foreground.',
  signals: interpreted,
  liveOutput: 'The interpreted shell gives output when the command has ended.',
  bytesOutput: 'The interpreted shell gives its output as text.',
  specialFiles: 'Files in memory are files, directories and links.',
  procfs: interpreted,
}

export const openMemory = Object.assign(
  async (): Promise<OpenedProvider> => {
    const plan = new FaultPlan()
    return { provider: memoryProvider({ faults: plan }), faults: faultsOf(plan) }
  },
  { capabilities: memoryProvider().capabilities() },
)

export const memoryTarget = providerTarget({
  name: 'memoryProvider',
  capabilities: openMemory.capabilities,
  lacks: MEMORY_LACKS,
  open: openMemory,
})
