import { OFFSET_START } from '@holdfast/core'
import type { ModelMessage, StreamChunk } from '@tanstack/ai'
import { driveRun } from './drive-run.ts'
import { eventStreamResponse } from './event-stream-response.ts'
import type { EventStreamOptions } from './event-stream-response.ts'
import type { ChatRequest } from './request-body.ts'
import { sandboxApproval } from '../tools/sandbox-approval.ts'
import { openDriverLog, RunEventLog } from './run-event-log.ts'
import type { RunSession } from './run-session.ts'
import { Viewer } from './viewer.ts'
import { redactedError } from '../secrets/redacted-error.ts'
import { warnOf } from '../secrets/warn-of.ts'

/** What `chat()` needs to know of a run. Spread it into its options. */
export interface RunChatOptions {
  threadId: string
  runId: string
  parentRunId?: string
  messages: ModelMessage[]
  resume?: NonNullable<ChatRequest['resume']>
  /** The pauses that a sandbox policy may need. */
  interrupts: readonly [typeof sandboxApproval]
  abortController: AbortController
}

export interface RunInput {
  session: RunSession
  chat: ChatRequest
  messages: ModelMessage[]
  /** How many messages the thread had before this turn. */
  storedCount: number
  detachOnDisconnect: boolean
}

/** A claimed run. Use `respond` once, or hand `eventLog` to TanStack's response helpers. */
export class Run {
  readonly runId: string
  readonly threadId: string
  readonly session: RunSession
  readonly chat: RunChatOptions
  /** For `toServerSentEventsResponse(stream, { durability: { adapter: run.eventLog } })`. */
  readonly eventLog: RunEventLog
  readonly detachOnDisconnect: boolean
  /** Messages before this index were there before the run. */
  readonly storedCount: number

  constructor(input: RunInput) {
    const { session, chat } = input
    this.runId = session.runId
    this.threadId = session.threadId
    this.session = session
    this.detachOnDisconnect = input.detachOnDisconnect
    this.storedCount = input.storedCount
    this.eventLog = new RunEventLog(session)
    this.chat = {
      threadId: session.threadId,
      runId: session.runId,
      messages: input.messages,
      interrupts: [sandboxApproval],
      abortController: session.controller,
      ...(chat.parentRunId === undefined ? {} : { parentRunId: chat.parentRunId }),
      ...(chat.resume === undefined ? {} : { resume: chat.resume }),
    }
  }

  /**
   * Drives the stream to its end in this process, whoever watches, and answers with the run's events as they are stored.
   * The last event is stored after transcript, sandbox and checkpoint. Rejections of the drive go to `onFailure`.
   */
  respond(
    stream: AsyncIterable<StreamChunk>,
    options: EventStreamOptions & { onFailure?: (error: unknown) => void } = {},
  ): Response {
    const { onFailure = (error: unknown) => warnOf(error, this.session.redactor), ...rest } = options
    const { stores, clock, ended } = this.session
    const viewer = new Viewer({ stores, runId: this.runId, clock }).watch({ now: false })
    void ended.then(() => viewer.stop())
    this.drive(stream).catch(onFailure)
    const log = stores.eventLog.open({ runId: this.runId, offset: OFFSET_START })
    const onViewerLeft = (): void => {
      viewer.stop()
      this.viewerLeft()
    }
    return eventStreamResponse(log, { clock, ...rest, onViewerLeft })
  }

  /** Drives the stream without a viewer. Rejects only when the end of the run could not be stored. */
  drive(stream: AsyncIterable<StreamChunk>): Promise<void> {
    const { session, chat } = this
    const isAnswer = (chat.resume?.length ?? 0) > 0
    const input = { session, log: openDriverLog(session), stream }
    const driving = driveRun(isAnswer ? { ...input, conversation: chat.messages } : input)
    return driving.catch((error: unknown) => {
      throw redactedError(session.redactor, error)
    })
  }

  /** Bookkeeping of a viewer who left; ends the run where it must not outlive one. */
  viewerLeft(): void {
    if (!this.detachOnDisconnect) {
      this.session.stop('disconnect')
      return
    }
    const { fence, stores, redactor } = this.session
    if (fence !== undefined) stores.drivers.detach(fence).catch((error: unknown) => warnOf(error, redactor))
  }
}
