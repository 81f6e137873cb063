import { ProviderError } from '@holdfast/core/provider-kit'
import type { DaytonaAccount } from '../account/daytona-account.ts'
import { newNonce } from '../naming.ts'
import { askScript } from '../script/ask-script.ts'
import { frameText } from '../script/frames.ts'
import type { VendorSandbox } from '../sdk.ts'
import { prepareScript } from './prepare-script.ts'

export interface PreparedSandbox {
  /** The workspace's real path. */
  workspaceRoot: string
  /** A private directory of ours outside the workspace. */
  stateDir: string
  /** The sentinel that stands in the sandbox now; empty when there is none. */
  sentinel: string
}

export interface PrepareInput {
  sentinel: string | undefined
  replaceSentinel: boolean
  signal?: AbortSignal | undefined
}

const PREPARE_MS = 60_000

/** Makes a started sandbox ready for commands. One request; safe to repeat. */
export async function prepareSandbox(
  account: DaytonaAccount,
  sandbox: VendorSandbox,
  input: PrepareInput,
): Promise<PreparedSandbox> {
  const nonce = newNonce()
  const script = prepareScript({ nonce, workdir: account.options.workdir, ...input })
  const answered = await askScript({
    vendor: sandbox,
    nonce,
    script,
    options: { operation: 'sandbox prepare', timeoutMs: PREPARE_MS, signal: input.signal },
    request: (options, send) => account.request(options, send),
  })
  const frames = new Map(answered.map((frame) => [frame.kind, frame]))
  const told = (kind: string): string => {
    const frame = frames.get(kind)
    return frame === undefined ? '' : frameText(frame)
  }
  if (frames.get('x')?.payload !== '0') {
    const what =
      told('f') === 'workspace' ? `the workspace ${account.options.workdir}` : 'a directory for its own files'
    const reason = frames.has('f')
      ? `${what} could not be made in it`
      : 'its shell lacks something: sh, base64, mkdir, find and mv are needed'
    throw new ProviderError('SANDBOX_CREATE_FAILED', `Sandbox ${sandbox.id} cannot be used: ${reason}.`, {
      details: { sandboxId: sandbox.id },
    })
  }
  return { workspaceRoot: told('w'), stateDir: told('s'), sentinel: told('g') }
}
