import { isHoldfastError, ProviderError } from '@holdfast/core/provider-kit'
import { statusOf } from '../errors.ts'
import type { LiveSandbox } from '../lease/live-sandbox.ts'
import type { CommandRun } from './command-run.ts'

/** Bytes in one line of input. The shell that reads it takes a byte at a time. */
const MAX_LINE_BYTES = 24 * 1024
const END_LINE = '.'
/** Of a command that has ended, or lost its session and with it whatever gave it input. */
const COMMAND_GONE: ReadonlySet<number> = new Set([404, 410])

/**
 * Standard input of a running command. The service takes lines of text and knows no end of file, so bytes travel as
 * numbered lines of base64 and the end is a line of its own; a line that is sent twice counts once.
 */
export class StdinFeed {
  readonly #live: LiveSandbox
  readonly #run: CommandRun
  #lines = 0
  #isEnded = false
  #ending: Promise<void> | undefined
  #hasExited = false
  #last: Promise<void> = Promise.resolve()

  constructor(live: LiveSandbox, run: CommandRun) {
    this.#live = live
    this.#run = run
  }

  /** Rejects with `PROCESS_STDIN_CLOSED` after the end of the input or of the process. */
  write(data: string): Promise<void> {
    if (this.#isEnded || this.#hasExited) return Promise.reject(closedError())
    const bytes = Buffer.from(data, 'utf8')
    const lines: string[] = []
    for (let at = 0; at < bytes.length; at += MAX_LINE_BYTES) {
      lines.push(bytes.subarray(at, at + MAX_LINE_BYTES).toString('base64'))
    }
    return this.#queue(lines)
  }

  /** Gives the process end of file. Repeatable; rejects when the service did not take it, for the process waits then. */
  end(): Promise<void> {
    this.#isEnded = true
    if (this.#hasExited) return Promise.resolve()
    return (this.#ending ??= this.#sendEnd())
  }

  /** The process has ended. */
  close(): void {
    this.#hasExited = true
  }

  async #sendEnd(): Promise<void> {
    try {
      await this.#queue([END_LINE])
    } catch (error) {
      // A process that has ended needs no end of file.
      if (isHoldfastError(error, 'PROCESS_STDIN_CLOSED')) return
      this.#ending = undefined
      throw error
    }
  }

  #queue(lines: readonly string[]): Promise<void> {
    const sent = this.#last.then(async () => {
      for (const line of lines) await this.#send(line)
    })
    this.#last = sent.catch(() => undefined)
    return sent
  }

  async #send(line: string): Promise<void> {
    const { session } = this.#run
    if (session === undefined) throw closedError()
    this.#lines += 1
    const data = `${this.#lines} ${line}\n`
    try {
      await this.#live.request({ operation: 'session input', isRepeatable: true }, () =>
        this.#live.vendor.process.sendSessionCommandInput(session.session.sessionId, session.commandId, data),
      )
    } catch (error) {
      if (this.#hasExited || COMMAND_GONE.has(statusOf(error) ?? 0)) throw closedError(error)
      throw error
    }
  }
}

function closedError(cause?: unknown): ProviderError {
  return new ProviderError('PROCESS_STDIN_CLOSED', 'The process no longer reads its standard input.', { cause })
}
