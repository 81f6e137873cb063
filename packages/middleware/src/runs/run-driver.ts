import type { StreamChunk } from '@tanstack/ai'
import type { AnyTool } from '@tanstack/ai'
import type { Run } from './run.ts'

/** Makes the events of a claimed run: usually a `chat()` with `withPersistence` and `withSandbox`. */
export interface RunDriver {
  /** `forwardedProps` are what the client sent with the run. `request` is absent when no client is there. */
  readonly drive: (
    run: Run,
    input: { forwardedProps: Record<string, unknown>; request?: Request },
  ) => AsyncIterable<StreamChunk>
  /**
   * Whether the run's events can be made again from their beginning, as those of `commandAgent` can. A successor then
   * drives the run again and adds what the log lacks. Default: no.
   */
  readonly isJournaled?: (run: {
    runId: string
    threadId: string
    forwardedProps: Record<string, unknown>
  }) => boolean | Promise<boolean>
  /** What a successor has to know of: which of them may be called again. */
  readonly tools: readonly AnyTool[]
}
