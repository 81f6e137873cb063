import { ProviderError } from '@holdfast/core/provider-kit'
import type { LiveSandbox } from '../lease/live-sandbox.ts'
import { askScript } from '../script/ask-script.ts'
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
  for (let ask = 1; ask <= MAX_ASKS; ask += 1) {
    const frames = await askScript({
      vendor: live.vendor,
      nonce: input.nonce,
      script,
      options: { operation: 'exec kill', timeoutMs },
      request: (options, send) => live.request(options, send),
    })
    if (frames.some(({ kind }) => kind === 'g')) return
  }
  const message = `Some processes of a command in sandbox ${live.id} could not be ended.`
  throw new ProviderError('PROVIDER_FAILED', message, { details: { sandboxId: live.id }, retryable: true })
}
