import { setTimeout as pause } from 'node:timers/promises'
import { ProviderError } from '@holdfast/core'
import { signalProcess } from '../../process-group.ts'
import { familyMembers } from './process-mark.ts'
import type { ProcessFamily } from './process-mark.ts'
import { listProcesses } from './process-table.ts'

const LOOK_EVERY_MS = 15
/** A process that SIGKILL does not end in this time is stuck in the kernel. */
const KILL_LIMIT_MS = 5_000

export interface EndFamilyOptions {
  signal: NodeJS.Signals | number
  /** How long the processes may take to end by themselves before SIGKILL. */
  graceMs: number
}

/**
 * Ends every process of the family and resolves when none is left. Real time, whatever clock the provider has, because
 * the processes are real. Rejects with `PROVIDER_FAILED` when one cannot be ended.
 */
export async function endFamily(family: ProcessFamily, options: EndFamilyOptions): Promise<void> {
  const startedAt = performance.now()
  const signalled = new Set<number>()
  for (;;) {
    const members = familyMembers(family, await listProcesses())
    if (members.length === 0) return
    const elapsed = performance.now() - startedAt
    if (elapsed > options.graceMs + KILL_LIMIT_MS) throw stuck(members.length)
    const isOverdue = elapsed >= options.graceMs
    for (const { pid } of members) {
      if (isOverdue) signalProcess(pid, 'SIGKILL')
      else if (!signalled.has(pid)) signalProcess(pid, options.signal)
      signalled.add(pid)
    }
    await pause(LOOK_EVERY_MS)
  }
}

function stuck(count: number): ProviderError {
  return new ProviderError('PROVIDER_FAILED', `${count} processes of the sandbox could not be ended.`, {
    retryable: true,
  })
}
