import { ProviderError } from '@holdfast/core/provider-kit'
import type { RequestOptions } from '../account/daytona-account.ts'
import type { VendorSandbox } from '../sdk.ts'
import { FrameReader } from './frames.ts'
import type { Frame } from './frames.ts'

const MAX_EMPTY_ANSWERS = 3

export interface AskScriptInput {
  vendor: VendorSandbox
  nonce: string
  /** A script that may be run again. */
  script: string
  options: Omit<RequestOptions, 'isRepeatable'>
  /** How the request is sent. */
  request: <T>(options: RequestOptions, send: () => Promise<T>) => Promise<T>
}

/** Runs one of our own scripts and answers its frames. An answer without any is asked for again. */
export async function askScript(input: AskScriptInput): Promise<readonly [Frame, ...Frame[]]> {
  const { vendor, nonce, script, options, request } = input
  const seconds = Math.max(1, Math.ceil((options.timeoutMs ?? 60_000) / 1000))
  let exitCode: number | undefined
  for (let ask = 1; ask <= MAX_EMPTY_ANSWERS; ask += 1) {
    const answer = await request({ ...options, isRepeatable: true }, () =>
      vendor.process.executeCommand(script, undefined, undefined, seconds),
    )
    const [first, ...rest] = FrameReader.readAll(nonce, answer.result)
    if (first !== undefined) return [first, ...rest]
    exitCode = answer.exitCode
  }
  const message = `${options.operation}: the sandbox gave no answer. It needs sh, base64 and the usual file tools.`
  throw new ProviderError('PROVIDER_FAILED', message, { details: { operation: options.operation, exitCode } })
}
