import type { Clock } from '../../clock.ts'
import { ProviderError } from '../../errors/error-classes.ts'
import { assertMs } from '../../identifier.ts'
import type { JournalPiece } from './journal-piece.ts'

/**
 * Notices a command that prints nothing. Only looks at an empty journal count: while the sandbox cannot be reached,
 * nobody knows what the command does.
 */
export class FirstByteWatch {
  readonly #runId: string
  readonly #timeoutMs: number
  readonly #clock: Clock
  #emptySince: number | undefined
  #isOver: boolean

  /** A time of 0 is without limit. `INVALID_ARGUMENT` for one that is none. */
  constructor(input: { runId: string; timeoutMs: number; from: number; clock: Clock }) {
    this.#runId = input.runId
    this.#timeoutMs = assertMs('firstByteTimeoutMs', input.timeoutMs)
    this.#clock = input.clock
    this.#isOver = this.#timeoutMs === 0 || input.from > 0
  }

  /** `JOURNAL_STALLED` when the journal has been empty for too long. */
  see(piece: JournalPiece): void {
    this.#isOver ||= piece.bytes.length > 0
    if (this.#isOver) return
    const now = this.#clock.monotonic()
    this.#emptySince ??= now
    if (now - this.#emptySince < this.#timeoutMs) return
    const message = `The command of run ${this.#runId} has printed nothing for ${this.#timeoutMs} ms.`
    throw new ProviderError('JOURNAL_STALLED', message, {
      details: { runId: this.#runId, timeoutMs: this.#timeoutMs },
    })
  }
}
