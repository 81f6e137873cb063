import { join } from 'node:path'
import type { SandboxProvider } from '@holdfast/core'
import { defineSandbox, defineWorkspace } from '@holdfast/middleware'
import type { SandboxDefinition } from '@holdfast/middleware'
import { daytonaProvider } from '@holdfast/provider-daytona'
import { FaultPlan, processProvider } from '@holdfast/testing'
import { AGENT_SCRIPTS } from '../scripted-agent/scripted-agent.ts'
import { dataDir } from './data-dir.ts'
import { perProcess } from './per-process.ts'
import { policy } from './policy.ts'

/** One sandbox for each thread; it stays between messages. */
export function sandbox(): SandboxDefinition {
  return defineSandbox({
    id: 'example',
    provider: perProcess('provider', provider),
    workspace: defineWorkspace({ scripts: AGENT_SCRIPTS }),
    policy,
    fileEvents: true,
  })
}

/** Daytona with `DAYTONA_API_KEY`. Without, plain folders and processes of this machine, which isolate nothing. */
function provider(): SandboxProvider {
  const apiKey = process.env['DAYTONA_API_KEY']
  if (apiKey) return daytonaProvider({ apiKey })
  const faults = process.env['HOLDFAST_FAULTS']
  return processProvider({
    dir: join(dataDir, 'sandboxes'),
    ...(faults ? { faults: FaultPlan.fromJson(faults) } : {}),
  })
}
