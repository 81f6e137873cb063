import { ProviderError } from '@holdfast/core'
import type { LiveSandbox } from '../lease/live-sandbox.ts'
import { FrameReader } from '../script/frames.ts'
import { killScript } from '../script/kill-script.ts'

export interface KillRunInput {
  nonce: string
  /** As `kill -s` takes it, without `SIG`. */
  signal: string
  graceMs: number
  isRun?: boolean
}

const MAX_ASKS = 3

/** Ends every process of a run and resolves when the sandbox says that none is left. */
export async function killRun(live: LiveSandbox, input: KillRunInput): Promise<void> {
  const script = killScript({ ...input, stateDir: live.stateDir })
  const timeoutMs = input.graceMs + 10_000 + live.account.livenessMs
  for (let ask = 1; ; ask += 1) {
    const answer = await live.request({ operation: 'exec kill', isRepeatable: true, timeoutMs }, () =>
      live.vendor.process.executeCommand(script, undefined, undefined, Math.ceil(timeoutMs / 1000)),
    )
    if (FrameReader.readAll(input.nonce, answer.result).some(({ kind }) => kind === 'g')) return
    if (ask >= MAX_ASKS) break
  }
  const message = `Some processes of a command in sandbox ${live.id} could not be ended.`
  throw new ProviderError('PROVIDER_FAILED', message, { details: { sandboxId: live.id }, retryable: true })
}
