import { RedactionStream } from '../secrets/redaction-stream.ts'
import { SecretRedactor } from '../secrets/secret-redactor.ts'
import { HeadTailText } from './head-tail-text.ts'
import type { SandboxToolCall } from './sandbox-tool.ts'

/** Most characters of one output that are shown while a command runs. */
const MAX_LIVE_CHARACTERS = 256 * 1024

/** One output of a running command: shown as it comes, kept within bounds, without secrets. */
export class LiveOutput {
  readonly #call: SandboxToolCall
  readonly #event: string
  readonly #redaction: RedactionStream
  readonly #kept: HeadTailText
  #isPushed = false
  #liveCharacters = 0

  constructor(call: SandboxToolCall, event: 'process.stdout' | 'process.stderr') {
    this.#call = call
    this.#event = event
    this.#redaction = new RedactionStream(call.binding.redactor ?? new SecretRedactor([]))
    this.#kept = new HeadTailText(call.limits.maxOutputBytes)
  }

  get isTruncated(): boolean {
    return this.#kept.isTruncated
  }

  push(piece: string): void {
    this.#isPushed = true
    this.#show(this.#redaction.push(piece))
  }

  /** The end of the output. `whole` is used when the provider gave no pieces. */
  finish(whole: string): string {
    if (!this.#isPushed) this.#show(this.#redaction.push(whole))
    this.#show(this.#redaction.flush())
    return this.#kept.toString()
  }

  #show(text: string): void {
    if (text === '') return
    this.#kept.push(text)
    if (this.#liveCharacters >= MAX_LIVE_CHARACTERS) return
    const chunk = text.slice(0, MAX_LIVE_CHARACTERS - this.#liveCharacters)
    this.#liveCharacters += text.length
    const truncated = this.#liveCharacters >= MAX_LIVE_CHARACTERS ? { truncated: true } : {}
    const value = { processId: this.#call.toolCallId, chunk, ...truncated }
    this.#call.binding.emit(this.#event, value, { batch: true })
  }
}
